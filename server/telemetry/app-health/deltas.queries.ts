import { CopyRows } from '../../platform/storage/copy-in.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { DDSketch } from '../sketch/ddsketch.ts'
import { HyperLogLog } from '../sketch/hyperloglog.ts'
import type { Delta } from './deltas.ts'
import { DIMENSIONS, COUNTS, sourceNumber, USER_SETS } from './dimensions.ts'

const COLUMNS = [
  'project_id',
  'source',
  'minute',
  ...DIMENSIONS,
  ...COUNTS,
  ...USER_SETS,
  'durations',
  'durations_removed',
]

/** Appends rows without a look-up or lock, so that the cost does not grow with stored data. */
export function insertDeltas(tx: Tx, deltas: readonly Delta[]): void {
  if (deltas.length === 0) return
  const rows = new CopyRows()
  for (const delta of deltas) {
    rows.row(COLUMNS.length)
    rows.uuid(delta.projectId)
    rows.int16(sourceNumber(delta.source))
    rows.time(new Date(delta.minute))
    for (const dimension of DIMENSIONS) rows.text(delta.attributes[dimension])
    for (const count of COUNTS) rows.int64(delta.counts[count])
    for (const set of USER_SETS) {
      const hashes = delta.users.get(set)
      if (hashes === undefined) rows.nothing()
      else rows.bytes(HyperLogLog.of(hashes).toBytes())
    }
    for (const sign of [1, -1]) {
      const sketch = durationsOf(delta, sign)
      if (sketch === null) rows.nothing()
      else rows.bytes(sketch.toBytes())
    }
  }
  tx.sendRows(`health_deltas (${COLUMNS.join(', ')})`, rows)
}

/** The durations to add, or to remove; null for none. */
function durationsOf({ durations }: Delta, sign: number): DDSketch | null {
  let sketch: DDSketch | null = null
  for (const [duration, sessions] of durations) {
    for (let n = sessions * sign; n > 0; n--) {
      sketch ??= new DDSketch()
      sketch.add(duration)
    }
  }
  return sketch
}
