import { Link } from '@tanstack/react-router'
import type { Performance } from '../../../api/performance-queries.ts'
import { paths } from '../../../address/paths.ts'
import type { HealthView } from '../../../api/metric-queries.ts'
import { Bar } from '../../../ui/bar.tsx'
import { Card } from '../../../ui/card.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { formatCount, formatShare } from '../../../ui/format.ts'
import { DataTable } from '../../../ui/data-table.tsx'
import { Minor, ShortId } from '../../../ui/text.tsx'
import { Duration } from './columns.tsx'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { performanceTexts } from './texts.ts'
import styles from './tables.module.css'

/** The types by which Android and iOS report them. */
const ANR_SEARCH =
  'type:ApplicationNotResponding OR type:"App Hanging" OR type:"App Hang Fully Blocked" OR type:"App Hang Non Fully Blocked"'

/** ANRs and app hangs by the call that blocked the main thread, each with its issue. */
export function CausesTable({ data, view }: { data: Performance; view: HealthView }) {
  const { columns } = performanceTexts
  const causes = data.anr_causes
  return (
    <Card
      title={performanceTexts.causes}
      header={
        <>
          {data.anrs.count === 0 ? null : <Minor>{performanceTexts.causesUnit(formatCount(data.anrs.count))}</Minor>}
          <Link
            className={fitStyles.atEnd}
            {...paths.issues({ project: view.projectId, range: view.range, q: ANR_SEARCH })}
          >
            {performanceTexts.allAnr}
          </Link>
        </>
      }
    >
      {causes === null ? (
        <EmptyState kind="filtered" title={performanceTexts.byDevice} />
      ) : causes.length === 0 ? (
        <EmptyState kind="good" title={performanceTexts.noCauses}>
          {performanceTexts.noCausesMore}
        </EmptyState>
      ) : (
        <DataTable
          scrollLabel={figuresTexts.tableOf(performanceTexts.causes)}
          className={styles.table}
          rows={causes}
          keyOf={({ call }) => call}
          columns={[
            {
              head: columns.call,
              className: classNames(styles.call, choiceStyles.underlineLinksApart),
              cell: (cause) =>
                cause.issue_id === null ? (
                  <>
                    {cause.call} <Minor>{performanceTexts.goneIssue}</Minor>
                  </>
                ) : (
                  <Link {...paths.issue(cause.issue_id, { project: view.projectId })}>
                    {cause.call} <ShortId>{cause.short_id}</ShortId>
                  </Link>
                ),
            },
            {
              head: columns.share,
              className: styles.share,
              cell: ({ share }) => (
                <span>
                  <Bar share={share} />
                  {formatShare(share)}
                </span>
              ),
            },
            { head: columns.anrs, numeric: true, cell: ({ count }) => formatCount(count) },
            { head: columns.longest, numeric: true, cell: ({ longest_ms: ms }) => <Duration ms={ms} /> },
          ]}
        />
      )}
    </Card>
  )
}
