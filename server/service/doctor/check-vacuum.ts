import type { Connection } from '../../platform/storage/database.ts'
import { HOUR_MS } from '../../platform/kernel/day.ts'
import { ageText } from './check-database.ts'
import { readVacuumFacts, type VacuumFacts } from './doctor.queries.ts'
import { type Finding, note, ok, problem } from './finding.ts'

const PART = 'vacuum'
/** PostgreSQL hurries from 1.6 * 10^9 on (`vacuum_failsafe_age`) and refuses writes before 2^31. */
const MAX_TRANSACTION_AGE = 1_000_000_000
const MAX_OPEN_MS = HOUR_MS
const MAX_KEPT_BYTES = 10e9

/** Whether PostgreSQL can free the space of rows that were changed or deleted, and what holds it up. */
export const checkVacuum = async (on: Connection): Promise<Finding[]> => judgeVacuum(await readVacuumFacts(on))

/** Pure. */
export function judgeVacuum({ isOn, transactionAge, openMs, openName, slots, bloated }: VacuumFacts): Finding[] {
  const findings: Finding[] = []
  if (!isOn)
    findings.push(
      problem(PART, 'autovacuum is off: tables only grow, and statistics get old. Set autovacuum = on in PostgreSQL.'),
    )
  if (transactionAge > MAX_TRANSACTION_AGE)
    findings.push(
      problem(
        PART,
        `The oldest row was not frozen for ${transactionAge.toLocaleString('en-US')} transactions; at 2,147,483,647 PostgreSQL refuses writes. Run VACUUM FREEZE.`,
      ),
    )
  if (openMs > MAX_OPEN_MS)
    findings.push(
      problem(
        PART,
        `A transaction${openName === '' ? '' : ` of "${openName}"`} is open for ${ageText(openMs)}: no row deleted since then can be removed. End it.`,
      ),
    )
  for (const { name, keptBytes } of slots)
    if (keptBytes > MAX_KEPT_BYTES)
      findings.push(
        problem(
          PART,
          `The replication slot "${name}" has no reader and keeps ${(keptBytes / 1e9).toFixed(1)} GB of log, which fills the disk. Start its standby, or drop it with pg_drop_replication_slot.`,
        ),
      )
  if (bloated !== null)
    findings.push(
      note(
        PART,
        `Table ${bloated.table} has ${bloated.deadRows.toLocaleString('en-US')} dead rows beside ${bloated.liveRows.toLocaleString('en-US')}. Lower autovacuum_vacuum_scale_factor to 0.05 and raise autovacuum_vacuum_cost_limit to 1000.`,
      ),
    )
  return findings.length === 0 ? [ok(PART, 'space of deleted rows is used again')] : findings
}
