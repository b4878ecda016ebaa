/*
 * A process has the kernel copy into memory of another one, which closes it meanwhile; as the package's documentation
 * says. After Close the memory is the owner's again. Memory is sequentially consistent: all words are written by
 * instructions that are full fences.
 *
 *   NO_HAZARD    the copier does not say what it uses
 *   NO_LOOK      the copier does not look whether the memory is live after it has said so
 *   EARLY_SCAN   the owner looks at hazards before it says that the memory is closed
 *   NO_SCAN      the owner does not look at hazards
 */
bool live = true;
bool hazard[2];
bool copying[2];
bool closed;                   /* Close has returned */

active [2] proctype copier()
{
	byte me = _pid;
	byte i = 0;
	do
	:: i == 2 -> break
	:: else ->
#ifndef NO_HAZARD
		hazard[me] = true;
#endif
		if
#ifndef NO_LOOK
		:: !live -> skip
		:: live ->
#else
		:: true ->
#endif
			copying[me] = true;
			assert(!closed);
			copying[me] = false
		fi;
		hazard[me] = false;
		i++
	od
}

active proctype owner()
{
	assert(live);
#ifdef EARLY_SCAN
	!hazard[0];
	!hazard[1];
#endif
	live = false;
#ifndef NO_SCAN
#ifndef EARLY_SCAN
	!hazard[0];
	!hazard[1];
#endif
#endif
	closed = true;
	assert(!copying[0] && !copying[1])
}
