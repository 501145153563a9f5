import { Link } from '@tanstack/react-router'
import type { ReleaseRow } from '../../../api/release-queries.ts'
import { gradeOfVerdict, VerdictBadge } from '../../../subjects/figures/verdict-badge.tsx'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { paths } from '../../../address/paths.ts'
import type { ReleasesSearch } from '../../../address/search.ts'
import { formatCount, formatPoints, formatRate, formatShare } from '../../../ui/format.ts'
import { DataTable } from '../../../ui/data-table.tsx'
import { Minor, NoData } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { TrendLine } from '../../../ui/chart/trend-line.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { Delta } from '../../../ui/delta.tsx'
import { GradeDot, type Grade } from '../../../ui/grade-dot.tsx'
import { releasesTexts } from './texts.ts'
import { crashFreeChange, splitVersion, tableNames } from './model.ts'
import styles from './table.module.css'
import typeStyles from '../../../ui/type.module.css'

/** The table of releases with their health; bad values are highlighted. */
export function ReleaseTable({ rows, search }: { rows: readonly ReleaseRow[]; search: ReleasesSearch }) {
  const { columns } = releasesTexts
  const names = tableNames(rows.map((row) => row.version))
  return (
    <DataTable
      scrollLabel={releasesTexts.title}
      className={styles.table}
      rows={rows}
      keyOf={({ id }) => id}
      rowAttributes={({ verdict }) => ({
        className: verdict === 'hold' ? classNames(styles.hold, choiceStyles.held) : undefined,
      })}
      columns={[
        {
          head: columns.release,
          cell: (row) => <Name row={row} search={search} name={names.get(row.version) ?? row.version} />,
        },
        {
          head: columns.adoption,
          className: styles.trend,
          cell: ({ adoption_trend: values, verdict }) =>
            values.length === 0 ? null : (
              <TrendLine
                values={values}
                max={1}
                tone={verdict === 'replaced' || verdict === 'archived' ? 'base' : 'measure'}
              />
            ),
        },
        {
          head: columns.share,
          isHeadHidden: true,
          numeric: true,
          cell: ({ adoption }) => (adoption === null ? <NoData /> : formatShare(adoption)),
        },
        {
          head: columns.crashFree,
          numeric: true,
          cell: (row) =>
            row.crash_free_sessions === null ? (
              <NoData />
            ) : (
              <CrashFree value={row.crash_free_sessions} grade={gradeOfVerdict(row)} />
            ),
        },
        { head: columns.change, numeric: true, cell: (row) => <Change row={row} /> },
        {
          head: columns.fresh,
          numeric: true,
          cell: ({ new_issues: count }) => (count === 0 ? <Zero /> : formatCount(count)),
        },
        {
          head: columns.regressed,
          numeric: true,
          cell: ({ regressions: count }) =>
            count === 0 ? <Zero /> : <b className={typeStyles.violet}>{formatCount(count)}</b>,
        },
        { head: columns.verdict, cell: (row) => <VerdictBadge row={row} /> },
      ]}
    />
  )
}

function Name({ row, name, search }: { row: ReleaseRow; name: string; search: ReleasesSearch }) {
  const { build } = splitVersion(row.version)
  const at = row.released_at ?? row.first_seen
  return (
    <>
      <Link {...paths.release(row.id, search)} className={`${typeStyles.mono} ${styles.version}`} title={row.version}>
        {name}
      </Link>
      <Minor className={styles.meta}>
        {build === null ? null : `${releasesTexts.build(build)}, `}
        {at === null ? (
          figuresTexts.verdicts[row.state === 'planned' ? 'planned' : 'no_sessions']
        ) : (
          <Time at={at} as="moment" />
        )}
      </Minor>
    </>
  )
}

const Zero = () => <span className={typeStyles.quiet}>0</span>

/** A rate with the grade of its release, or of its own where nothing else judges it. */
export function CrashFree({ value, grade }: { value: number; grade: Grade | null }) {
  return (
    <span className={styles.crashFree}>
      {grade === null ? null : <GradeDot grade={grade} />}
      {formatRate(value)}
    </span>
  )
}

export function Change({ row }: { row: ReleaseRow }) {
  const change = crashFreeChange(row)
  if (change === null) return <NoData />
  const rounded = Math.round(change * 10_000)
  const tone = rounded > 0 ? 'better' : rounded < 0 ? 'worse' : 'same'
  return (
    <Delta change={tone} title={row.previous === null ? undefined : releasesTexts.against(row.previous.version)}>
      {formatPoints(rounded === 0 ? 0 : change)}
    </Delta>
  )
}
