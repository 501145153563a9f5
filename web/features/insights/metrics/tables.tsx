import { useInfiniteQuery, useQuery, type UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { breakdownCsvUrl, breakdownQuery, type Breakdown, type HealthView } from '../../../api/metric-queries.ts'
import { releasesQuery, type ReleaseRow } from '../../../api/release-queries.ts'
import { paths } from '../../../address/paths.ts'
import { CsvLink } from '../../../subjects/figures/csv-link.tsx'
import { shortRelease } from '../../../subjects/figures/filter-model.ts'
import { CRASH_LIMITS, MODEL_LIMITS } from '../../../subjects/figures/limits.ts'
import { Judged } from '../../../subjects/figures/judged.tsx'
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
import { formatCount, formatRate, formatShare, formatShortCount } from '../../../ui/format.ts'
import { DataTable } from '../../../ui/data-table.tsx'
import { Minor, NoData } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { coverageText } from './model.ts'
import { metricsTexts } from './texts.ts'
import styles from './tables.module.css'
import typeStyles from '../../../ui/type.module.css'

const ROWS = 6
/** Releases with most sessions, of which the newest are shown. */
const CONSIDERED = 20

const { columns } = metricsTexts
const rate = (value: number | null): ReactNode => (value === null ? <NoData /> : formatRate(value))
const free = (crashed: number | null): ReactNode => rate(crashed === null ? null : 1 - crashed)

/** The newest of the releases with sessions. */
export function ReleaseTable({ view }: { view: HealthView }) {
  const found = useQuery({
    ...breakdownQuery({ ...view, dimension: 'release', limit: CONSIDERED }),
    meta: { quiet: true },
  })
  const list = useInfiniteQuery({
    ...releasesQuery({ project: view.projectId, range: view.range, environment: null }),
    meta: { quiet: true },
  })
  const known = new Map(list.data?.pages.flatMap((page) => page.items).map((row) => [row.version, row]))
  const dateOf = ({ name }: Breakdown['rows'][number]): string => {
    const release = known.get(name ?? '')
    return release?.released_at ?? release?.first_seen ?? ''
  }
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
          <DataTable
            scrollLabel={figuresTexts.tableOf(metricsTexts.byRelease)}
            className={classNames(styles.table, choiceStyles.underlineLinksApart)}
            rows={rows.toSorted((a, b) => dateOf(b).localeCompare(dateOf(a))).slice(0, ROWS)}
            keyOf={({ name }) => name ?? ''}
            rowAttributes={({ name }) => ({
              className:
                known.get(name ?? '')?.verdict === 'hold' ? classNames(styles.hold, choiceStyles.held) : undefined,
            })}
            columns={[
              {
                head: columns.release,
                title: ({ name }) => name,
                cell: ({ name }) => <ReleaseName name={name ?? ''} release={known.get(name ?? '')} view={view} />,
              },
              {
                head: columns.adoption,
                className: styles.share,
                title: () => metricsTexts.adoptionHint,
                cell: ({ name }) => {
                  const adoption = known.get(name ?? '')?.adoption ?? null
                  return adoption === null ? (
                    <NoData />
                  ) : (
                    <span>
                      <Bar share={adoption} />
                      {formatShare(adoption)}
                    </span>
                  )
                },
              },
              {
                head: columns.crashFree,
                numeric: true,
                cell: (row) => (
                  <Judged rate={row.crash_rate} limits={CRASH_LIMITS}>
                    {free(row.crash_rate)}
                  </Judged>
                ),
              },
              { head: columns.users, numeric: true, cell: (row) => free(row.crash_rate_users) },
              { head: columns.anr, numeric: true, cell: (row) => rate(row.anr_rate) },
              {
                head: columns.sessions,
                numeric: true,
                title: ({ sessions }) => formatCount(sessions),
                cell: ({ sessions }) => formatShortCount(sessions),
              },
              {
                head: columns.verdict,
                cell: ({ name }) => {
                  const release = known.get(name ?? '')
                  return release === undefined ? null : <VerdictBadge row={release} short />
                },
              },
            ]}
          />
        )}
      </Rows>
    </Card>
  )
}

type ReleaseNameProps = { name: string; release: ReleaseRow | undefined; view: HealthView }

function ReleaseName({ name, release, view }: ReleaseNameProps) {
  const at = release?.released_at ?? release?.first_seen ?? null
  return (
    <>
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
    </>
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
            <DataTable
              scrollLabel={figuresTexts.tableOf(metricsTexts.worstDevices)}
              className={classNames(styles.table, choiceStyles.underlineLinksApart)}
              rows={data.rows}
              keyOf={({ name }) => name ?? ''}
              columns={[
                {
                  head: columns.model,
                  title: ({ name }) => name,
                  cell: ({ name }) => (
                    <button
                      type="button"
                      className={classNames(styles.model, choiceStyles.underlinesApart)}
                      onClick={() => onDevice(name ?? '')}
                    >
                      {name}
                    </button>
                  ),
                },
                { head: columns.share, numeric: true, cell: ({ share }) => formatShare(share) },
                {
                  head: columns.crashRate,
                  numeric: true,
                  cell: (row) => (
                    <Judged rate={row.crash_rate} limits={MODEL_LIMITS}>
                      {rate(row.crash_rate)}
                    </Judged>
                  ),
                },
                { head: columns.anr, numeric: true, cell: (row) => rate(row.anr_rate) },
                { head: columns.word, cell: ({ word }) => (word === null ? null : <WordBadge word={word} />) },
              ]}
            />
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
