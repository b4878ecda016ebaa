// Code generated from table.txt and include/mpi.h by go generate; DO NOT EDIT.

//go:build cgo && linux

package main

const (
	mpiVersion                              = 5
	mpiSubversion                           = 0
	mpiAbiVersion                           = 1
	mpiAbiSubversion                        = 0
	commNullHandle               handle     = 0x100
	commWorldHandle              handle     = 0x101
	commSelfHandle               handle     = 0x102
	groupNullHandle              handle     = 0x108
	groupEmptyHandle             handle     = 0x109
	winNullHandle                handle     = 0x110
	fileNullHandle               handle     = 0x118
	sessionNullHandle            handle     = 0x120
	messageNullHandle            handle     = 0x128
	messageNoProcHandle          handle     = 0x129
	infoNullHandle               handle     = 0x130
	infoEnvHandle                handle     = 0x131
	errhandlerNullHandle         handle     = 0x140
	errorsAreFatalHandle         handle     = 0x141
	errorsAbortHandle            handle     = 0x142
	errorsReturnHandle           handle     = 0x143
	requestNullHandle            handle     = 0x180
	opNullHandle                 handle     = 0x20
	sumHandle                    handle     = 0x21
	minHandle                    handle     = 0x22
	maxHandle                    handle     = 0x23
	prodHandle                   handle     = 0x24
	bandHandle                   handle     = 0x28
	borHandle                    handle     = 0x29
	bxorHandle                   handle     = 0x2a
	landHandle                   handle     = 0x30
	lorHandle                    handle     = 0x31
	lxorHandle                   handle     = 0x32
	minlocHandle                 handle     = 0x38
	maxlocHandle                 handle     = 0x39
	replaceHandle                handle     = 0x3c
	noOpHandle                   handle     = 0x3d
	datatypeNullHandle           handle     = 0x200
	aintHandle                   handle     = 0x201
	countHandle                  handle     = 0x202
	offsetHandle                 handle     = 0x203
	packedHandle                 handle     = 0x207
	shortHandle                  handle     = 0x208
	intHandle                    handle     = 0x209
	longHandle                   handle     = 0x20a
	longLongHandle               handle     = 0x20b
	unsignedShortHandle          handle     = 0x20c
	unsignedHandle               handle     = 0x20d
	unsignedLongHandle           handle     = 0x20e
	unsignedLongLongHandle       handle     = 0x20f
	floatHandle                  handle     = 0x210
	cFloatComplexHandle          handle     = 0x212
	cxxFloatComplexHandle        handle     = 0x213
	doubleHandle                 handle     = 0x214
	cDoubleComplexHandle         handle     = 0x216
	cxxDoubleComplexHandle       handle     = 0x217
	logicalHandle                handle     = 0x218
	integerHandle                handle     = 0x219
	realHandle                   handle     = 0x21a
	complexHandle                handle     = 0x21b
	doublePrecisionHandle        handle     = 0x21c
	doubleComplexHandle          handle     = 0x21d
	characterHandle              handle     = 0x21e
	longDoubleHandle             handle     = 0x220
	cLongDoubleComplexHandle     handle     = 0x224
	cxxLongDoubleComplexHandle   handle     = 0x225
	floatIntHandle               handle     = 0x228
	doubleIntHandle              handle     = 0x229
	longIntHandle                handle     = 0x22a
	twoIntHandle                 handle     = 0x22b
	shortIntHandle               handle     = 0x22c
	longDoubleIntHandle          handle     = 0x22d
	twoRealHandle                handle     = 0x230
	twoDoublePrecisionHandle     handle     = 0x231
	twoIntegerHandle             handle     = 0x232
	cBoolHandle                  handle     = 0x238
	cxxBoolHandle                handle     = 0x239
	wcharHandle                  handle     = 0x23c
	int8THandle                  handle     = 0x240
	uint8THandle                 handle     = 0x241
	charHandle                   handle     = 0x243
	signedCharHandle             handle     = 0x244
	unsignedCharHandle           handle     = 0x245
	byteHandle                   handle     = 0x247
	int16THandle                 handle     = 0x248
	uint16THandle                handle     = 0x249
	int32THandle                 handle     = 0x250
	uint32THandle                handle     = 0x251
	int64THandle                 handle     = 0x258
	uint64THandle                handle     = 0x259
	logical1Handle               handle     = 0x2c0
	integer1Handle               handle     = 0x2c1
	logical2Handle               handle     = 0x2c8
	integer2Handle               handle     = 0x2c9
	real2Handle                  handle     = 0x2ca
	logical4Handle               handle     = 0x2d0
	integer4Handle               handle     = 0x2d1
	real4Handle                  handle     = 0x2d2
	complex4Handle               handle     = 0x2d3
	logical8Handle               handle     = 0x2d8
	integer8Handle               handle     = 0x2d9
	real8Handle                  handle     = 0x2da
	complex8Handle               handle     = 0x2db
	logical16Handle              handle     = 0x2e0
	integer16Handle              handle     = 0x2e1
	real16Handle                 handle     = 0x2e2
	complex16Handle              handle     = 0x2e3
	complex32Handle              handle     = 0x2eb
	success                      errorClass = 0
	errBuffer                    errorClass = 1
	errCount                     errorClass = 2
	errType                      errorClass = 3
	errTag                       errorClass = 4
	errComm                      errorClass = 5
	errRank                      errorClass = 6
	errRequest                   errorClass = 7
	errRoot                      errorClass = 8
	errGroup                     errorClass = 9
	errOp                        errorClass = 10
	errTopology                  errorClass = 11
	errDims                      errorClass = 12
	errArg                       errorClass = 13
	errUnknown                   errorClass = 14
	errTruncate                  errorClass = 15
	errOther                     errorClass = 16
	errIntern                    errorClass = 17
	errPending                   errorClass = 18
	errInStatus                  errorClass = 19
	errAccess                    errorClass = 20
	errAmode                     errorClass = 21
	errAssert                    errorClass = 22
	errBadFile                   errorClass = 23
	errBase                      errorClass = 24
	errConversion                errorClass = 25
	errDisp                      errorClass = 26
	errDupDatarep                errorClass = 27
	errFileExists                errorClass = 28
	errFileInUse                 errorClass = 29
	errFile                      errorClass = 30
	errInfoKey                   errorClass = 31
	errInfoNokey                 errorClass = 32
	errInfoValue                 errorClass = 33
	errInfo                      errorClass = 34
	errIo                        errorClass = 35
	errKeyval                    errorClass = 36
	errLocktype                  errorClass = 37
	errName                      errorClass = 38
	errNoMem                     errorClass = 39
	errNotSame                   errorClass = 40
	errNoSpace                   errorClass = 41
	errNoSuchFile                errorClass = 42
	errPort                      errorClass = 43
	errQuota                     errorClass = 44
	errReadOnly                  errorClass = 45
	errRmaAttach                 errorClass = 46
	errRmaConflict               errorClass = 47
	errRmaRange                  errorClass = 48
	errRmaShared                 errorClass = 49
	errRmaSync                   errorClass = 50
	errService                   errorClass = 51
	errSize                      errorClass = 52
	errSpawn                     errorClass = 53
	errUnsupportedDatarep        errorClass = 54
	errUnsupportedOperation      errorClass = 55
	errWin                       errorClass = 56
	errRmaFlavor                 errorClass = 57
	errProcAborted               errorClass = 58
	errValueTooLarge             errorClass = 59
	errSession                   errorClass = 60
	errErrhandler                errorClass = 61
	errAbi                       errorClass = 62
	errLastcode                  errorClass = 16383
	tErrCannotInit               errorClass = 1001
	tErrNotAccessible            errorClass = 1002
	tErrNotInitialized           errorClass = 1003
	tErrNotSupported             errorClass = 1004
	tErrMemory                   errorClass = 1005
	tErrInvalid                  errorClass = 1006
	tErrInvalidIndex             errorClass = 1007
	tErrInvalidItem              errorClass = 1008
	tErrInvalidSession           errorClass = 1009
	tErrInvalidHandle            errorClass = 1010
	tErrInvalidName              errorClass = 1011
	tErrOutOfHandles             errorClass = 1012
	tErrOutOfSessions            errorClass = 1013
	tErrCvarSetNotNow            errorClass = 1014
	tErrCvarSetNever             errorClass = 1015
	tErrPvarNoWrite              errorClass = 1016
	tErrPvarNoStartstop          errorClass = 1017
	tErrPvarNoAtomic             errorClass = 1018
	mpiAnySource                            = -1
	mpiAnyTag                               = -2
	mpiProcNull                             = -3
	mpiRoot                                 = -4
	mpiUndefined                            = -32766
	mpiThreadSingle                         = 0
	mpiThreadFunneled                       = 1024
	mpiThreadSerialized                     = 2048
	mpiThreadMultiple                       = 4096
	mpiIdent                                = 201
	mpiCongruent                            = 202
	mpiSimilar                              = 203
	mpiUnequal                              = 204
	mpiCart                                 = 211
	mpiGraph                                = 212
	mpiDistGraph                            = 213
	mpiCommTypeShared                       = 221
	mpiCommTypeHwUnguided                   = 222
	mpiCommTypeHwGuided                     = 223
	mpiCommTypeResourceGuided               = 224
	mpiOrderC                               = 0xC
	mpiOrderFortran                         = 0xF
	mpiDistributeNone                       = 16
	mpiDistributeBlock                      = 17
	mpiDistributeCyclic                     = 18
	mpiDistributeDfltDarg                   = 19
	mpiCombinerNamed                        = 101
	mpiCombinerDup                          = 102
	mpiCombinerContiguous                   = 103
	mpiCombinerVector                       = 104
	mpiCombinerHvector                      = 105
	mpiCombinerIndexed                      = 106
	mpiCombinerHindexed                     = 107
	mpiCombinerIndexedBlock                 = 108
	mpiCombinerHindexedBlock                = 109
	mpiCombinerStruct                       = 110
	mpiCombinerSubarray                     = 111
	mpiCombinerDarray                       = 112
	mpiCombinerF90Real                      = 113
	mpiCombinerF90Complex                   = 114
	mpiCombinerF90Integer                   = 115
	mpiCombinerResized                      = 116
	mpiCombinerValueIndex                   = 117
	mpiTypeclassInteger                     = 192
	mpiTypeclassReal                        = 193
	mpiTypeclassComplex                     = 194
	mpiKeyvalInvalid                        = 0
	mpiTagUb                                = 501
	mpiIo                                   = 502
	mpiHost                                 = 503
	mpiWtimeIsGlobal                        = 504
	mpiAppnum                               = 505
	mpiLastusedcode                         = 506
	mpiUniverseSize                         = 507
	mpiWinBase                              = 601
	mpiWinDispUnit                          = 602
	mpiWinSize                              = 603
	mpiWinCreateFlavor                      = 604
	mpiWinModel                             = 605
	mpiLockExclusive                        = 301
	mpiLockShared                           = 302
	mpiWinFlavorCreate                      = 311
	mpiWinFlavorAllocate                    = 312
	mpiWinFlavorDynamic                     = 313
	mpiWinFlavorShared                      = 314
	mpiWinUnified                           = 321
	mpiWinSeparate                          = 322
	mpiModeNocheck                          = 1024
	mpiModeNoprecede                        = 2048
	mpiModeNoput                            = 4096
	mpiModeNostore                          = 8192
	mpiModeNosucceed                        = 16384
	mpiModeAppend                           = 1
	mpiModeCreate                           = 2
	mpiModeDeleteOnClose                    = 4
	mpiModeExcl                             = 8
	mpiModeRdonly                           = 16
	mpiModeRdwr                             = 32
	mpiModeSequential                       = 64
	mpiModeUniqueOpen                       = 128
	mpiModeWronly                           = 256
	mpiSeekCur                              = 401
	mpiSeekEnd                              = 402
	mpiSeekSet                              = 403
	mpiFStatusSize                          = 8
	mpiFSource                              = 0
	mpiFTag                                 = 1
	mpiFError                               = 2
	mpiDisplacementCurrent                  = -1
	mpiBottom                               = 0
	mpiInPlace                              = 1
	mpiBufferAutomatic                      = 2
	mpiArgvNull                             = 0
	mpiArgvsNull                            = 0
	mpiErrcodesIgnore                       = 0
	mpiStatusIgnore                         = 0
	mpiStatusesIgnore                       = 0
	mpiUnweighted                           = 10
	mpiWeightsEmpty                         = 11
	mpiMaxDatarepString                     = 128
	mpiMaxErrorString                       = 512
	mpiMaxInfoKey                           = 256
	mpiMaxInfoVal                           = 1024
	mpiMaxLibraryVersionString              = 8192
	mpiMaxObjectName                        = 128
	mpiMaxPortName                          = 1024
	mpiMaxProcessorName                     = 256
	mpiMaxStringtagLen                      = 1024
	mpiMaxPsetNameLen                       = 1024
	mpiBsendOverhead                        = 512
	mpiNullCopyFn                           = 0
	mpiDupFn                                = 1
	mpiNullDeleteFn                         = 0
	mpiCommNullCopyFn                       = 0
	mpiCommDupFn                            = 1
	mpiCommNullDeleteFn                     = 0
	mpiTypeNullCopyFn                       = 0
	mpiTypeDupFn                            = 1
	mpiTypeNullDeleteFn                     = 0
	mpiWinNullCopyFn                        = 0
	mpiWinDupFn                             = 1
	mpiWinNullDeleteFn                      = 0
	mpiConversionFnNull                     = 0
	mpiConversionFnNullC                    = 0
	tEnumNullHandle              handle     = 0
	tCvarHandleNullHandle        handle     = 0
	tPvarSessionNullHandle       handle     = 0
	tPvarHandleNullHandle        handle     = 0
	tPvarAllHandlesHandle        handle     = 1
	mpiTCbRequireNone                       = 0x00
	mpiTCbRequireMpiRestricted              = 0x03
	mpiTCbRequireThreadSafe                 = 0x0F
	mpiTCbRequireAsyncSignalSafe            = 0x3F
	mpiTSourceOrdered                       = 1
	mpiTSourceUnordered                     = 2
	mpiTVerbosityUserBasic                  = 0x09
	mpiTVerbosityUserDetail                 = 0x0a
	mpiTVerbosityUserAll                    = 0x0c
	mpiTVerbosityTunerBasic                 = 0x11
	mpiTVerbosityTunerDetail                = 0x12
	mpiTVerbosityTunerAll                   = 0x14
	mpiTVerbosityMpidevBasic                = 0x21
	mpiTVerbosityMpidevDetail               = 0x22
	mpiTVerbosityMpidevAll                  = 0x24
	mpiTBindNoObject                        = 1
	mpiTBindMpiComm                         = 2
	mpiTBindMpiDatatype                     = 3
	mpiTBindMpiErrhandler                   = 4
	mpiTBindMpiFile                         = 5
	mpiTBindMpiGroup                        = 6
	mpiTBindMpiOp                           = 7
	mpiTBindMpiRequest                      = 8
	mpiTBindMpiWin                          = 9
	mpiTBindMpiMessage                      = 10
	mpiTBindMpiInfo                         = 11
	mpiTBindMpiSession                      = 12
	mpiTScopeConstant                       = 1
	mpiTScopeReadonly                       = 2
	mpiTScopeLocal                          = 3
	mpiTScopeGroup                          = 4
	mpiTScopeGroupEq                        = 5
	mpiTScopeAll                            = 6
	mpiTScopeAllEq                          = 7
	mpiTPvarClassState                      = 1
	mpiTPvarClassLevel                      = 2
	mpiTPvarClassSize                       = 3
	mpiTPvarClassPercentage                 = 4
	mpiTPvarClassHighwatermark              = 5
	mpiTPvarClassLowwatermark               = 6
	mpiTPvarClassCounter                    = 7
	mpiTPvarClassAggregate                  = 8
	mpiTPvarClassTimer                      = 9
	mpiTPvarClassGeneric                    = 10
)

// handleNames are the names of predefined objects in C.
var handleNames = map[handle]string{
	commNullHandle:             "MPI_COMM_NULL",
	commWorldHandle:            "MPI_COMM_WORLD",
	commSelfHandle:             "MPI_COMM_SELF",
	groupNullHandle:            "MPI_GROUP_NULL",
	groupEmptyHandle:           "MPI_GROUP_EMPTY",
	winNullHandle:              "MPI_WIN_NULL",
	fileNullHandle:             "MPI_FILE_NULL",
	sessionNullHandle:          "MPI_SESSION_NULL",
	messageNullHandle:          "MPI_MESSAGE_NULL",
	messageNoProcHandle:        "MPI_MESSAGE_NO_PROC",
	infoNullHandle:             "MPI_INFO_NULL",
	infoEnvHandle:              "MPI_INFO_ENV",
	errhandlerNullHandle:       "MPI_ERRHANDLER_NULL",
	errorsAreFatalHandle:       "MPI_ERRORS_ARE_FATAL",
	errorsAbortHandle:          "MPI_ERRORS_ABORT",
	errorsReturnHandle:         "MPI_ERRORS_RETURN",
	requestNullHandle:          "MPI_REQUEST_NULL",
	opNullHandle:               "MPI_OP_NULL",
	sumHandle:                  "MPI_SUM",
	minHandle:                  "MPI_MIN",
	maxHandle:                  "MPI_MAX",
	prodHandle:                 "MPI_PROD",
	bandHandle:                 "MPI_BAND",
	borHandle:                  "MPI_BOR",
	bxorHandle:                 "MPI_BXOR",
	landHandle:                 "MPI_LAND",
	lorHandle:                  "MPI_LOR",
	lxorHandle:                 "MPI_LXOR",
	minlocHandle:               "MPI_MINLOC",
	maxlocHandle:               "MPI_MAXLOC",
	replaceHandle:              "MPI_REPLACE",
	noOpHandle:                 "MPI_NO_OP",
	datatypeNullHandle:         "MPI_DATATYPE_NULL",
	aintHandle:                 "MPI_AINT",
	countHandle:                "MPI_COUNT",
	offsetHandle:               "MPI_OFFSET",
	packedHandle:               "MPI_PACKED",
	shortHandle:                "MPI_SHORT",
	intHandle:                  "MPI_INT",
	longHandle:                 "MPI_LONG",
	longLongHandle:             "MPI_LONG_LONG",
	unsignedShortHandle:        "MPI_UNSIGNED_SHORT",
	unsignedHandle:             "MPI_UNSIGNED",
	unsignedLongHandle:         "MPI_UNSIGNED_LONG",
	unsignedLongLongHandle:     "MPI_UNSIGNED_LONG_LONG",
	floatHandle:                "MPI_FLOAT",
	cFloatComplexHandle:        "MPI_C_FLOAT_COMPLEX",
	cxxFloatComplexHandle:      "MPI_CXX_FLOAT_COMPLEX",
	doubleHandle:               "MPI_DOUBLE",
	cDoubleComplexHandle:       "MPI_C_DOUBLE_COMPLEX",
	cxxDoubleComplexHandle:     "MPI_CXX_DOUBLE_COMPLEX",
	logicalHandle:              "MPI_LOGICAL",
	integerHandle:              "MPI_INTEGER",
	realHandle:                 "MPI_REAL",
	complexHandle:              "MPI_COMPLEX",
	doublePrecisionHandle:      "MPI_DOUBLE_PRECISION",
	doubleComplexHandle:        "MPI_DOUBLE_COMPLEX",
	characterHandle:            "MPI_CHARACTER",
	longDoubleHandle:           "MPI_LONG_DOUBLE",
	cLongDoubleComplexHandle:   "MPI_C_LONG_DOUBLE_COMPLEX",
	cxxLongDoubleComplexHandle: "MPI_CXX_LONG_DOUBLE_COMPLEX",
	floatIntHandle:             "MPI_FLOAT_INT",
	doubleIntHandle:            "MPI_DOUBLE_INT",
	longIntHandle:              "MPI_LONG_INT",
	twoIntHandle:               "MPI_2INT",
	shortIntHandle:             "MPI_SHORT_INT",
	longDoubleIntHandle:        "MPI_LONG_DOUBLE_INT",
	twoRealHandle:              "MPI_2REAL",
	twoDoublePrecisionHandle:   "MPI_2DOUBLE_PRECISION",
	twoIntegerHandle:           "MPI_2INTEGER",
	cBoolHandle:                "MPI_C_BOOL",
	cxxBoolHandle:              "MPI_CXX_BOOL",
	wcharHandle:                "MPI_WCHAR",
	int8THandle:                "MPI_INT8_T",
	uint8THandle:               "MPI_UINT8_T",
	charHandle:                 "MPI_CHAR",
	signedCharHandle:           "MPI_SIGNED_CHAR",
	unsignedCharHandle:         "MPI_UNSIGNED_CHAR",
	byteHandle:                 "MPI_BYTE",
	int16THandle:               "MPI_INT16_T",
	uint16THandle:              "MPI_UINT16_T",
	int32THandle:               "MPI_INT32_T",
	uint32THandle:              "MPI_UINT32_T",
	int64THandle:               "MPI_INT64_T",
	uint64THandle:              "MPI_UINT64_T",
	logical1Handle:             "MPI_LOGICAL1",
	integer1Handle:             "MPI_INTEGER1",
	logical2Handle:             "MPI_LOGICAL2",
	integer2Handle:             "MPI_INTEGER2",
	real2Handle:                "MPI_REAL2",
	logical4Handle:             "MPI_LOGICAL4",
	integer4Handle:             "MPI_INTEGER4",
	real4Handle:                "MPI_REAL4",
	complex4Handle:             "MPI_COMPLEX4",
	logical8Handle:             "MPI_LOGICAL8",
	integer8Handle:             "MPI_INTEGER8",
	real8Handle:                "MPI_REAL8",
	complex8Handle:             "MPI_COMPLEX8",
	logical16Handle:            "MPI_LOGICAL16",
	integer16Handle:            "MPI_INTEGER16",
	real16Handle:               "MPI_REAL16",
	complex16Handle:            "MPI_COMPLEX16",
	complex32Handle:            "MPI_COMPLEX32",
}
