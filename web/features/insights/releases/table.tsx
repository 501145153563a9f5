import { Link } from '@tanstack/react-router'
import type { ReleaseRow } from '../../../api/release-queries.ts'
import { gradeOfVerdict, VerdictBadge } from '../../../subjects/figures/verdict-badge.tsx'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { paths } from '../../../address/paths.ts'
import type { ReleasesSearch } from '../../../address/search.ts'
import { formatCount, formatPoints, formatRate, formatShare, NO_DATA } from '../../../ui/format.ts'
import { Table, ColumnHead, NumberCell } from '../../../ui/table.tsx'
import { Minor } from '../../../ui/text.tsx'
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
  const names = tableNames(rows.map((row) => row.version))
  return (
    <Table scrollLabel={releasesTexts.title} className={styles.table}>
      <thead>
        <tr>
          <ColumnHead>{releasesTexts.columns.release}</ColumnHead>
          <ColumnHead>{releasesTexts.columns.adoption}</ColumnHead>
          <ColumnHead numeric>
            <span className={typeStyles.hidden}>{releasesTexts.columns.share}</span>
          </ColumnHead>
          <ColumnHead numeric>{releasesTexts.columns.crashFree}</ColumnHead>
          <ColumnHead numeric>{releasesTexts.columns.change}</ColumnHead>
          <ColumnHead numeric>{releasesTexts.columns.fresh}</ColumnHead>
          <ColumnHead numeric>{releasesTexts.columns.regressed}</ColumnHead>
          <ColumnHead>{releasesTexts.columns.verdict}</ColumnHead>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.id} row={row} search={search} name={names.get(row.version) ?? row.version} />
        ))}
      </tbody>
    </Table>
  )
}

function Row({ row, name, search }: { row: ReleaseRow; name: string; search: ReleasesSearch }) {
  const { build } = splitVersion(row.version)
  const at = row.released_at ?? row.first_seen
  return (
    <tr className={row.verdict === 'hold' ? classNames(styles.hold, choiceStyles.held) : undefined}>
      <th scope="row">
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
      </th>
      <td className={styles.trend}>
        {row.adoption_trend.length === 0 ? null : (
          <TrendLine
            values={row.adoption_trend}
            max={1}
            tone={row.verdict === 'replaced' || row.verdict === 'archived' ? 'base' : 'measure'}
          />
        )}
      </td>
      <NumberCell>{row.adoption === null ? <None /> : formatShare(row.adoption)}</NumberCell>
      <NumberCell>
        {row.crash_free_sessions === null ? (
          <None />
        ) : (
          <CrashFree value={row.crash_free_sessions} grade={gradeOfVerdict(row)} />
        )}
      </NumberCell>
      <NumberCell>
        <Change row={row} />
      </NumberCell>
      <NumberCell>
        {row.new_issues === 0 ? <span className={typeStyles.quiet}>0</span> : formatCount(row.new_issues)}
      </NumberCell>
      <NumberCell>
        {row.regressions === 0 ? (
          <span className={typeStyles.quiet}>0</span>
        ) : (
          <b className={typeStyles.violet}>{formatCount(row.regressions)}</b>
        )}
      </NumberCell>
      <td>
        <VerdictBadge row={row} />
      </td>
    </tr>
  )
}

const None = () => <span className={typeStyles.quiet}>{NO_DATA}</span>

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
  if (change === null) return <None />
  const rounded = Math.round(change * 10_000)
  const tone = rounded > 0 ? 'better' : rounded < 0 ? 'worse' : 'same'
  return (
    <Delta change={tone} title={row.previous === null ? undefined : releasesTexts.against(row.previous.version)}>
      {formatPoints(rounded === 0 ? 0 : change)}
    </Delta>
  )
}
