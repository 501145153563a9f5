import { useInfiniteQuery, useQuery, type UseQueryResult } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { paths } from '../../../address/paths.ts'
import type { TracesSearch } from '../../../address/search.ts'
import { projectsQuery } from '../../../api/queries.ts'
import { tracesOverviewQuery, tracesQuery, type TraceOverview } from '../../../api/trace-queries.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { usePrefs } from '../../../app/prefs.ts'
import { GuideLink } from '../../../frames/guide-link.tsx'
import { MoreFoot } from '../../../frames/more-button.tsx'
import { PageQuery } from '../../../frames/page-query.tsx'
import { Button, buttonLook } from '../../../ui/button.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { EmptyState } from '../../../ui/empty-state.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatDay } from '../../../ui/format.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import { PageHead } from '../../../ui/page-head.tsx'
import { PageMain } from '../../../ui/page-main.tsx'
import { Popover } from '../../../ui/popover.tsx'
import { Minor } from '../../../ui/text.tsx'
import { DurationCard } from './duration-card.tsx'
import { useProjectSeries } from './project-mark.tsx'
import { TraceFilters } from './trace-filters.tsx'
import { TraceSearchField } from './trace-search-field.tsx'
import { TraceTable } from './trace-table.tsx'
import { listChips, NO_TRACE_FILTERS } from './traces-model.ts'
import { tracesTexts as texts } from './traces-texts.ts'
import styles from './traces-page.module.css'

const route = getRouteApi('/signed-in/shell/traces')

/** Traces that are decided after five minutes, and new ones after one. */
const REFRESH_MS = 60_000
/** From this share on, the list says that not all transactions were considered. */
const CONSIDERED = 0.995

/** The list of traces with its filters. */
export function TracesPage() {
  const search = route.useSearch()
  const project = useQuery(projectsQuery).data?.items.find(({ id }) => id === search.project)
  const overview = useQuery({ ...tracesOverviewQuery(search), refetchInterval: REFRESH_MS, meta: { quiet: true } })
  const [areFiltersOpen, setFiltersOpen] = useState(false)
  usePageTitle(project === undefined ? texts.title : `${texts.title}, ${project.name}`)
  usePrefs()
  const count = listChips(search).length
  return (
    <PageMain>
      <PageHead actions={<How overview={overview.data} />}>
        <h1>{texts.title}</h1>
        {overview.data === undefined ? null : <Sampling overview={overview.data} />}
      </PageHead>
      <div className={styles.bar}>
        <TraceSearchField key={search.q ?? ''} search={search} />
        <Button
          icon="filter"
          className={styles.toggle}
          aria-expanded={areFiltersOpen}
          onClick={() => setFiltersOpen(!areFiltersOpen)}
        >
          {count === 0 ? texts.filter : texts.filters(count)}
        </Button>
      </div>
      <div className={classNames(styles.columns, narrowStyles.oneColumnAt924)}>
        <div className={areFiltersOpen ? undefined : narrowStyles.hiddenAt924}>
          <PageQuery query={overview} what={texts.overviewWhat} heightPx={420}>
            {(data) => <TraceFilters search={search} overview={data} />}
          </PageQuery>
        </div>
        <div className={fitStyles.column}>
          <PageQuery query={overview} what={texts.overviewWhat} heightPx={230}>
            {(data) => (data.points.length === 0 ? null : <DurationCard search={search} overview={data} />)}
          </PageQuery>
          <List search={search} overview={overview} />
        </div>
      </div>
    </PageMain>
  )
}

const Sampling = ({ overview: { sampling } }: { overview: TraceOverview }) => (
  <Minor>{texts.sampling(sampling.kept, sampling.transactions, formatDay(`${sampling.from}T12:00:00Z`))}</Minor>
)

/** The rule by which traces are kept. */
function How({ overview }: { overview: TraceOverview | undefined }) {
  const sampling = overview?.sampling
  return (
    <Popover
      label={texts.how}
      align="end"
      trigger={
        <Button icon="info" look="ghost">
          {texts.how}
        </Button>
      }
    >
      <div className={styles.how}>
        <p>{texts.howText}</p>
        {sampling === undefined || sampling.considered >= sampling.transactions * CONSIDERED ? null : (
          <p>{texts.considered(sampling.considered)}</p>
        )}
      </div>
    </Popover>
  )
}

function List({ search, overview }: { search: TracesSearch; overview: UseQueryResult<TraceOverview> }) {
  const list = useInfiniteQuery({ ...tracesQuery(search), refetchInterval: REFRESH_MS, meta: { quiet: true } })
  const [first] = list.data?.pages ?? []
  const traces = list.data?.pages.flatMap(({ items }) => items) ?? []
  const series = useProjectSeries()
  const searched = overview.data?.searched ?? 0
  return (
    <Card
      className={fitStyles.clips}
      title={first === undefined ? texts.title : texts.count(first.total, first.total_capped === true)}
      header={<Minor>{texts.newest}</Minor>}
    >
      <PageQuery query={list} what={texts.what} rows={6}>
        {() => (traces.length === 0 ? <Empty search={search} /> : <TraceTable traces={traces} series={series} />)}
      </PageQuery>
      <MoreFoot list={list}>{texts.showMore}</MoreFoot>
      {searched >= MAX_SEARCHED ? <CardFooter note={texts.searched(searched)} /> : null}
    </Card>
  )
}

/** Older traces of the range are not searched. */
const MAX_SEARCHED = 20_000

function Empty({ search }: { search: TracesSearch }) {
  const isFiltered = listChips(search).length > 0
  return (
    <EmptyState
      kind={isFiltered ? 'filtered' : 'setup'}
      title={isFiltered ? texts.emptyFiltered : texts.empty}
      actions={
        isFiltered ? (
          <Link {...paths.traces({ ...search, ...NO_TRACE_FILTERS })} {...buttonLook()}>
            <span>{texts.clear}</span>
          </Link>
        ) : undefined
      }
    >
      {isFiltered ? (
        texts.emptyFilteredText
      ) : (
        <>
          {texts.emptyText} <GuideLink page="traces" />
        </>
      )}
    </EmptyState>
  )
}
