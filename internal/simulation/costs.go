package simulation

// costs is a set of pairs of numbers: how many mishaps and faults it took to reach
// a world. A world is as good as visited when it was reached at a lower cost.
type costs uint16

// maxCost is the highest number of either that costs can hold.
const maxCost = 3

// with adds a pair.
func (c costs) with(mishaps, faults int) costs { return c | bit(mishaps, faults) }

// cover tells whether the set has a pair of which neither number is higher.
func (c costs) cover(mishaps, faults int) bool {
	for m := range mishaps + 1 {
		for f := range faults + 1 {
			if c&bit(m, f) != 0 {
				return true
			}
		}
	}
	return false
}

// beat tells whether the set has such a pair other than the given one.
func (c costs) beat(mishaps, faults int) bool {
	return (c &^ bit(mishaps, faults)).cover(mishaps, faults)
}

func bit(mishaps, faults int) costs { return 1 << (mishaps*(maxCost+1) + faults) }
