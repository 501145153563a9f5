import type { Volume } from '../../../api/issue-queries.ts'
import type { Range } from '../../../address/search.ts'
import { bucketLabel } from '../../../subjects/figures/time-axis.ts'
import { FigureTable } from '../../../ui/chart/chart-table.tsx'
import { formatCount } from '../../../ui/format.ts'
import { issuesTexts } from './texts.ts'
import styles from './issues.module.css'

/** The values of the chart above the list as a table, newest first. */
export function VolumeTable({ volume, range }: { volume: Volume; range: Range }) {
  const rows = volume.points.filter((point) => point.events > 0).toReversed()
  return (
    <div className={styles.scrollY}>
      <FigureTable
        head={[issuesTexts.tableTime, issuesTexts.stripEvents, issuesTexts.stripFatal]}
        rows={rows.map((point) => [
          bucketLabel(point.t, volume.interval_seconds, range),
          formatCount(point.events),
          formatCount(point.fatal),
        ])}
      />
    </div>
  )
}
