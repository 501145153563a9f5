import { useInfiniteQuery, useQuery, type UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import {
  breakdownCsvUrl,
  breakdownQuery,
  type Breakdown,
  type BreakdownRow,
  type HealthView,
} from '../../../api/metric-queries.ts'
import { releasesQuery, type ReleaseRow } from '../../../api/release-queries.ts'
import { paths } from '../../../address/paths.ts'
import { CsvLink } from '../../../subjects/figures/csv-link.tsx'
import { shortRelease } from '../../../subjects/figures/filter-model.ts'
import { CRASH_LIMITS, MODEL_LIMITS, figureWord, type Limits } from '../../../subjects/figures/limits.ts'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { WordBadge } from '../../../subjects/figures/word-badge.tsx'
import { VerdictBadge } from '../../../subjects/figures/verdict-badge.tsx'
import { PageQuery } from '../../../frames/page-query.tsx'
import { Bar } from '../../../ui/bar.tsx'
import { Card } from '../../../ui/card.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { EmptyState } from '../../../ui/empty-state.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatCount, formatRate, formatShare, formatShortCount, NO_DATA } from '../../../ui/format.ts'
import { ColumnHead, NumberCell, Table } from '../../../ui/table.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { coverageText } from './model.ts'
import { metricsTexts } from './texts.ts'
import styles from './tables.module.css'
import typeStyles from '../../../ui/type.module.css'

const ROWS = 6

const None = () => <span className={typeStyles.quiet}>{NO_DATA}</span>
const rate = (value: number | null): ReactNode => (value === null ? <None /> : formatRate(value))
const free = (crashed: number | null): ReactNode => rate(crashed === null ? null : 1 - crashed)

/** A figure in the colour of its word, which its title says. */
function Judged({ rate, limits, children }: { rate: number | null; limits: Limits; children: ReactNode }) {
  const word = figureWord(rate, limits)
  return word === null || word === 'good' ? (
    children
  ) : (
    <b className={word === 'poor' ? typeStyles.red : typeStyles.amber} title={figuresTexts.words[word]}>
      {children}
    </b>
  )
}

/** The releases with most sessions. */
export function ReleaseTable({ view }: { view: HealthView }) {
  const found = useQuery({ ...breakdownQuery({ ...view, dimension: 'release', limit: ROWS }), meta: { quiet: true } })
  const list = useInfiniteQuery({
    ...releasesQuery({ project: view.projectId, range: view.range, environment: null }),
    meta: { quiet: true },
  })
  const known = new Map(list.data?.pages.flatMap((page) => page.items).map((row) => [row.version, row]))
  return (
    <Card
      title={metricsTexts.byRelease}
      header={
        <Link className={fitStyles.atEnd} {...paths.releases({ project: view.projectId, range: view.range })}>
          {metricsTexts.allReleases}
        </Link>
      }
    >
      <Rows found={found} none={metricsTexts.noReleases}>
        {({ rows }) => (
          <Table
            scrollLabel={figuresTexts.tableOf(metricsTexts.byRelease)}
            className={classNames(styles.table, choiceStyles.underlineLinksApart)}
          >
            <thead>
              <tr>
                <ColumnHead>{metricsTexts.columns.release}</ColumnHead>
                <ColumnHead>{metricsTexts.columns.adoption}</ColumnHead>
                <ColumnHead numeric>{metricsTexts.columns.crashFree}</ColumnHead>
                <ColumnHead numeric>{metricsTexts.columns.users}</ColumnHead>
                <ColumnHead numeric>{metricsTexts.columns.anr}</ColumnHead>
                <ColumnHead numeric>{metricsTexts.columns.sessions}</ColumnHead>
                <ColumnHead>{metricsTexts.columns.verdict}</ColumnHead>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <ReleaseLine key={row.name} row={row} release={known.get(row.name ?? '')} view={view} />
              ))}
            </tbody>
          </Table>
        )}
      </Rows>
    </Card>
  )
}

type ReleaseLineProps = { row: BreakdownRow; release: ReleaseRow | undefined; view: HealthView }

function ReleaseLine({ row, release, view }: ReleaseLineProps) {
  const name = row.name ?? ''
  const at = release?.released_at ?? release?.first_seen ?? null
  const adoption = release?.adoption ?? null
  return (
    <tr className={release?.verdict === 'hold' ? classNames(styles.hold, choiceStyles.held) : undefined}>
      <th scope="row" title={name}>
        {release === undefined ? (
          <span className={typeStyles.mono}>{shortRelease(name)}</span>
        ) : (
          <Link
            className={typeStyles.mono}
            {...paths.release(release.id, { project: view.projectId, range: view.range })}
          >
            {shortRelease(name)}
          </Link>
        )}{' '}
        {at === null ? null : (
          <Minor>
            <Time at={at} as="age" />
          </Minor>
        )}
      </th>
      <td className={styles.share} title={metricsTexts.adoptionHint}>
        {adoption === null ? (
          <None />
        ) : (
          <span>
            <Bar share={adoption} />
            {formatShare(adoption)}
          </span>
        )}
      </td>
      <NumberCell>
        <Judged rate={row.crash_rate} limits={CRASH_LIMITS}>
          {free(row.crash_rate)}
        </Judged>
      </NumberCell>
      <NumberCell>{free(row.crash_rate_users)}</NumberCell>
      <NumberCell>{rate(row.anr_rate)}</NumberCell>
      <NumberCell title={formatCount(row.sessions)}>{formatShortCount(row.sessions)}</NumberCell>
      <td>{release === undefined ? null : <VerdictBadge row={release} short />}</td>
    </tr>
  )
}

type DeviceTableProps = { view: HealthView; onDevice: (device: string) => void }

/** The device models with the highest crash rate, and how much of all sessions they stand for. */
export function DeviceTable({ view, onDevice }: DeviceTableProps) {
  const asked = { ...view, dimension: 'device', sort: '-crash_rate', limit: ROWS } as const
  const found = useQuery({ ...breakdownQuery(asked), meta: { quiet: true } })
  const hasRows = found.data !== undefined && found.data.rows.length > 0
  return (
    <Card
      title={metricsTexts.worstDevices}
      header={
        <>
          <Minor>{metricsTexts.modelLimit(formatShare(MODEL_LIMITS.poor))}</Minor>
          {hasRows ? (
            <span className={fitStyles.atEnd}>
              <CsvLink
                url={breakdownCsvUrl(asked)}
                filename="devices.csv"
                label={figuresTexts.csv(metricsTexts.worstDevices)}
              />
            </span>
          ) : null}
        </>
      }
    >
      <Rows found={found} none={metricsTexts.noDevices} more={metricsTexts.noDevicesMore}>
        {(data) => (
          <>
            <Table
              scrollLabel={figuresTexts.tableOf(metricsTexts.worstDevices)}
              className={classNames(styles.table, choiceStyles.underlineLinksApart)}
            >
              <thead>
                <tr>
                  <ColumnHead>{metricsTexts.columns.model}</ColumnHead>
                  <ColumnHead numeric>{metricsTexts.columns.share}</ColumnHead>
                  <ColumnHead numeric>{metricsTexts.columns.crashRate}</ColumnHead>
                  <ColumnHead numeric>{metricsTexts.columns.anr}</ColumnHead>
                  <ColumnHead>{metricsTexts.columns.word}</ColumnHead>
                </tr>
              </thead>
              <tbody>
                {data.rows.map((row) => (
                  <tr key={row.name}>
                    <th scope="row" title={row.name ?? undefined}>
                      <button
                        type="button"
                        className={classNames(styles.model, choiceStyles.underlinesApart)}
                        onClick={() => onDevice(row.name ?? '')}
                      >
                        {row.name}
                      </button>
                    </th>
                    <NumberCell>{formatShare(row.share)}</NumberCell>
                    <NumberCell>
                      <Judged rate={row.crash_rate} limits={MODEL_LIMITS}>
                        {rate(row.crash_rate)}
                      </Judged>
                    </NumberCell>
                    <NumberCell>{rate(row.anr_rate)}</NumberCell>
                    <td>{row.word === null ? null : <WordBadge word={row.word} />}</td>
                  </tr>
                ))}
              </tbody>
            </Table>
            <Coverage data={data} />
          </>
        )}
      </Rows>
    </Card>
  )
}

/** Which sessions the table leaves out. */
function Coverage({ data }: { data: Breakdown }) {
  const text = coverageText(data)
  return text === null ? null : (
    <Minor as="p" className={styles.foot}>
      {text}
    </Minor>
  )
}

type RowsProps = {
  found: UseQueryResult<Breakdown>
  none: string
  more?: string
  children: (data: Breakdown) => ReactNode
}

const Rows = ({ found, none, more, children }: RowsProps) => (
  <PageQuery query={found} what={metricsTexts.tables} heightPx={200} inCard>
    {(data) =>
      data.rows.length === 0 ? (
        <EmptyState kind="setup" title={none}>
          {more}
        </EmptyState>
      ) : (
        children(data)
      )
    }
  </PageQuery>
)
