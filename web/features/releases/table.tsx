import { Link } from '@tanstack/react-router'
import type { ReleaseRow } from '../../api/release-queries.ts'
import { paths } from '../../address/paths.ts'
import type { ReleasesSearch } from '../../address/search.ts'
import { formatCount, formatPoints, formatRate, NO_DATA } from '../../ui/format.ts'
import { Badge } from '../../ui/badge.tsx'
import { Time } from '../../ui/time.tsx'
import { TrendLine } from '../../ui/chart/trend-line.tsx'
import { Delta } from '../../ui/delta.tsx'
import { releasesTexts } from './texts.ts'
import { formatShare } from './charts.tsx'
import { changeOf, gradeOf, partsOf, VERDICT_LOOKS } from './model.ts'
import styles from './table.module.css'

/** Releases with what decides whether they go on. The worst stands out. */
export function ReleaseTable({ rows, search }: { rows: readonly ReleaseRow[]; search: ReleasesSearch }) {
  return (
    // A table wider than the screen is scrolled, also with the keys.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="scroll-x" role="region" aria-label={releasesTexts.title} tabIndex={0}>
      <table className={`t ${styles.table}`}>
        <thead>
          <tr>
            <th scope="col">{releasesTexts.columns.release}</th>
            <th scope="col">{releasesTexts.columns.adoption}</th>
            <th scope="col" className="num">
              <span className="sr">{releasesTexts.columns.share}</span>
            </th>
            <th scope="col" className="num">
              {releasesTexts.columns.crashFree}
            </th>
            <th scope="col" className="num">
              {releasesTexts.columns.change}
            </th>
            <th scope="col" className="num">
              {releasesTexts.columns.fresh}
            </th>
            <th scope="col" className="num">
              {releasesTexts.columns.regressed}
            </th>
            <th scope="col">{releasesTexts.columns.verdict}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.id} row={row} search={search} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ row, search }: { row: ReleaseRow; search: ReleasesSearch }) {
  const { version, build } = partsOf(row.version)
  const at = row.released_at ?? row.first_seen
  return (
    <tr className={row.verdict === 'hold' ? styles.hold : undefined}>
      <th scope="row">
        <Link {...paths.release(row.id, search)} className={`mono ${styles.version}`} title={row.version}>
          {version}
        </Link>
        <span className={`sub ${styles.meta}`}>
          {build === null ? null : `${releasesTexts.build(build)}, `}
          {at === null ? (
            releasesTexts.verdicts[row.state === 'planned' ? 'planned' : 'no_sessions']
          ) : (
            <Time at={at} as="moment" />
          )}
        </span>
      </th>
      <td className={styles.trend}>
        {row.adoption_trend.length === 0 ? null : (
          <TrendLine shares={row.adoption_trend} quiet={row.verdict === 'replaced' || row.verdict === 'archived'} />
        )}
      </td>
      <td className="num">{row.adoption === null ? <None /> : formatShare(row.adoption)}</td>
      <td className="num">
        {row.crash_free_sessions === null ? <None /> : <CrashFree value={row.crash_free_sessions} />}
      </td>
      <td className="num">
        <Change row={row} />
      </td>
      <td className="num">{row.new_issues === 0 ? <span className="c-3">0</span> : formatCount(row.new_issues)}</td>
      <td className="num">
        {row.regressions === 0 ? (
          <span className="c-3">0</span>
        ) : (
          <b className="c-violet">{formatCount(row.regressions)}</b>
        )}
      </td>
      <td>
        <VerdictFlag row={row} />
      </td>
    </tr>
  )
}

const None = () => <span className="c-3">{NO_DATA}</span>

export function CrashFree({ value }: { value: number }) {
  return (
    <span className={styles.crashFree}>
      <span className={styles.grade} data-grade={gradeOf(value)} />
      {formatRate(value)}
    </span>
  )
}

export function Change({ row }: { row: ReleaseRow }) {
  const change = changeOf(row)
  if (change === null) return <None />
  const rounded = Math.round(change * 10_000)
  const tone = rounded > 0 ? 'better' : rounded < 0 ? 'worse' : 'same'
  return (
    <span
      className={`delta ${tone}`}
      title={row.previous === null ? undefined : releasesTexts.against(row.previous.version)}
    >
      {formatPoints(rounded === 0 ? 0 : change)}
    </span>
  )
}

export function VerdictFlag({ row }: { row: Pick<ReleaseRow, 'verdict' | 'verdict_reason'> }) {
  const { colour, icon } = VERDICT_LOOKS[row.verdict]
  return (
    <span title={row.verdict_reason}>
      <Badge tone={colour} {...(icon === null ? {} : { icon })}>
        {releasesTexts.verdicts[row.verdict]}
      </Badge>
    </span>
  )
}
