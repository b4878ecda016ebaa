/*
 * A writer publishes pieces in a ring of two slots for one reader; each waits for the other by the words of
 * the segment, and sleeps by a bit and a message, as the package's documentation says. Memory is sequentially consistent: the stores
 * of words, and the setting of bits, are full fences; the mutations show what happens without.
 *
 *   NO_SECOND_LOOK   a waiter sleeps without looking once more after it has set its bit
 *   EARLY_BITS       a writer of a word looks for bits before it stores the word
 *   NO_OWED          a waiter that takes its bit back too late forgets the message that comes
 *   NO_TAKEN         the writer does not wait until a slot has been read
 */
#define PIECES 6
#define SLOTS 2

byte flag[SLOTS];      /* number + 1 of the piece in the slot */
byte taken;            /* pieces that the reader has read */
bool bitAtWriter;      /* the reader sleeps for the writer */
bool bitAtReader;      /* the writer sleeps for the reader */
chan toReader = [2] of { bit };
chan toWriter = [2] of { bit };

active proctype writer()
{
	byte k = 0;
	bool owed = false;
	bool saw = false;

	do
	:: k == PIECES -> break
	:: else ->
#ifndef NO_TAKEN
		do
		:: k < SLOTS || taken >= k - SLOTS + 1 -> break
		:: else ->
			if
			:: !owed ->
				bitAtReader = true;
#ifndef NO_SECOND_LOOK
				if
				:: taken >= k - SLOTS + 1 ->
					atomic {
						if
						:: bitAtReader -> bitAtReader = false
						:: else ->
#ifndef NO_OWED
							owed = true
#else
							skip
#endif
						fi
					}
					break
				:: else
				fi
#endif
			:: else
			fi;
			toWriter ? 1;
			owed = false
		od;
#endif
		/* the slot's piece has been read */
		assert(k < SLOTS || taken >= k - SLOTS + 1);
#ifdef EARLY_BITS
		saw = bitAtWriter;
#endif
		flag[k % SLOTS] = k + 1;
#ifndef EARLY_BITS
		saw = bitAtWriter;
#endif
		if
		:: saw ->
			atomic {
				if
				:: bitAtWriter -> bitAtWriter = false; assert(nfull(toReader)); toReader ! 1
				:: else
				fi
			}
		:: else
		fi;
		k++
	od
}

active proctype reader()
{
	byte k = 0;
	bool owed = false;
	bool saw = false;

	do
	:: k == PIECES -> break
	:: else ->
		do
		:: flag[k % SLOTS] == k + 1 -> break
		:: else ->
			if
			:: !owed ->
				bitAtWriter = true;
				if
				:: flag[k % SLOTS] == k + 1 ->
					atomic {
						if
						:: bitAtWriter -> bitAtWriter = false
						:: else ->
#ifndef NO_OWED
							owed = true
#else
							skip
#endif
						fi
					}
					break
				:: else
				fi
			:: else
			fi;
			toReader ? 1;
			owed = false
		od;
		taken = k + 1;
		saw = bitAtReader;
		if
		:: saw ->
			atomic {
				if
				:: bitAtReader -> bitAtReader = false; assert(nfull(toWriter)); toWriter ! 1
				:: else
				fi
			}
		:: else
		fi;
		k++
	od;
	/* at most one message is left, which a later wait takes */
	assert(len(toReader) <= 1)
}
