import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { paths } from '../../../address/paths.ts'
import type { MonitorsSearch } from '../../../address/search.ts'
import { monitorsQuery } from '../../../api/monitor-queries.ts'
import { projectsQuery } from '../../../api/queries.ts'
import { useKeys } from '../../../app/keys.ts'
import { focusRow, rowKeys } from '../../../app/row-keys.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { usePrefs } from '../../../app/prefs.ts'
import { MoreFoot } from '../../../frames/more-button.tsx'
import { PageQuery } from '../../../frames/page-query.tsx'
import { Button, buttonLook } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { EmptyState } from '../../../ui/empty-state.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatCount } from '../../../ui/format.ts'
import { Menu } from '../../../ui/menu.tsx'
import { PageHead } from '../../../ui/page-head.tsx'
import { PageMain } from '../../../ui/page-main.tsx'
import { Minor } from '../../../ui/text.tsx'
import typeStyles from '../../../ui/type.module.css'
import viewStyles from '../../../ui/views.module.css'
import { byUrgency, inOrder, keyOfPart, needsAttention, toMonitorParts, type MonitorPart } from './model.ts'
import { MonitorTable } from './monitor-table.tsx'
import { NoMonitor } from './no-monitor.tsx'
import { RunLegend } from './run-bars.tsx'
import { monitorsTexts as texts } from './texts.ts'

const route = getRouteApi('/signed-in/shell/monitors')

/** Runs are judged by the clock, so that nothing announces one that is missed. */
const REFRESH_MS = 30_000
/** Up to so many monitors are read without being asked for, so that the most urgent of them is first. */
const READ_AT_ONCE = 300

/** The list of monitors, those that need a person first. */
export function MonitorsPage() {
  const search = route.useSearch()
  const projects = useQuery(projectsQuery)
  const project = projects.data?.items.find(({ id }) => id === search.project)
  usePageTitle(project === undefined ? texts.title : `${texts.title}, ${project.name}`)
  usePrefs()
  return (
    <PageMain>
      <Monitors key={search.project ?? ''} search={search} />
    </PageMain>
  )
}

function Monitors({ search }: { search: MonitorsSearch }) {
  const list = useInfiniteQuery({
    ...monitorsQuery(search.project ?? null),
    refetchInterval: REFRESH_MS,
    meta: { quiet: true },
  })
  const { hasNextPage, isFetching, isError, fetchNextPage, isPlaceholderData } = list
  const monitors = list.data?.pages.flatMap(({ items }) => items) ?? []
  const isReading = hasNextPage && monitors.length < READ_AT_ONCE
  useEffect(() => {
    if (isReading && !isFetching && !isError) void fetchNextPage()
  }, [isReading, isFetching, isError, fetchNextPage])

  const all = toMonitorParts(monitors)
  const ofEnvironment = all.filter(({ environment: { name } }) => search.env === undefined || name === search.env)
  const urgent = ofEnvironment.filter(needsAttention)
  const parts = useSteadyOrder(all, list.data !== undefined && !isReading && !isPlaceholderData).filter((part) =>
    (search.state === 'attention' ? urgent : ofEnvironment).includes(part),
  )
  useKeys(rowKeys(texts, (by) => focusRow('[data-monitor]', by)))
  return (
    <>
      <PageHead
        className={viewStyles.head}
        actions={<EnvironmentMenu names={all.map(({ environment }) => environment.name)} chosen={search.env} />}
      >
        <h1>{texts.title}</h1>
        <nav className={classNames(viewStyles.views, choiceStyles.choices)} aria-label={texts.views}>
          {(
            [
              [undefined, texts.all, ofEnvironment.length],
              ['attention', texts.attention, urgent.length],
            ] as const
          ).map(([state, label, count]) => (
            <Link
              key={label}
              {...paths.monitors({ ...search, state })}
              activeOptions={{ exact: true, includeSearch: true }}
              aria-current={search.state === state ? 'page' : undefined}
            >
              {label}
              {list.data === undefined ? null : (
                <span className={classNames(viewStyles.count, typeStyles.softInCurrent)}>{formatCount(count)}</span>
              )}
            </Link>
          ))}
        </nav>
      </PageHead>
      <Card
        className={fitStyles.clips}
        title={texts.checkIns}
        header={
          <>
            <Minor>{texts.checkInsMore}</Minor>
            <RunLegend />
          </>
        }
      >
        <PageQuery query={list} what={texts.what} rows={6}>
          {() =>
            parts.length > 0 ? (
              <MonitorTable parts={parts} search={search} />
            ) : all.length === 0 ? (
              <NoMonitor projectId={search.project} />
            ) : (
              <FilteredAway search={search} />
            )
          }
        </PageQuery>
        {isReading ? null : <MoreFoot list={list}>{texts.showMore}</MoreFoot>}
      </Card>
    </>
  )
}

/** Rows are sorted when the list has loaded, and stay where they are afterwards. */
function useSteadyOrder(parts: readonly MonitorPart[], isLoaded: boolean): MonitorPart[] {
  const [order, setOrder] = useState<readonly string[] | null>(null)
  if (order === null && isLoaded) setOrder(byUrgency(parts).map(keyOfPart))
  return order === null ? byUrgency(parts) : inOrder(parts, order)
}

function EnvironmentMenu({ names, chosen }: { names: readonly string[]; chosen: string | undefined }) {
  const navigate = route.useNavigate()
  const known = [...new Set([...names, ...(chosen === undefined ? [] : [chosen])])].toSorted()
  if (known.length < 2 && chosen === undefined) return null
  const choose = (env: string | undefined) => void navigate({ search: (before) => ({ ...before, env }) })
  return (
    <Menu
      label={texts.environment}
      align="end"
      trigger={
        <Button icon="filter" caret className={fitStyles.narrowButton}>
          {chosen ?? texts.environment}
        </Button>
      }
      entries={[
        { label: texts.allEnvironments, checked: chosen === undefined, onSelect: () => choose(undefined) },
        { kind: 'separator' },
        ...known.map((name) => ({ label: name, checked: name === chosen, onSelect: () => choose(name) })),
      ]}
    />
  )
}

function FilteredAway({ search }: { search: MonitorsSearch }) {
  const isGood = search.state === 'attention'
  return (
    <EmptyState
      kind={isGood ? 'good' : 'filtered'}
      title={isGood ? texts.emptyFiltered : texts.emptyEnvironment(search.env ?? '')}
      actions={
        <Link {...paths.monitors({ project: search.project })} {...buttonLook()}>
          <span>{texts.showAll}</span>
        </Link>
      }
    >
      {isGood ? texts.emptyFilteredText : undefined}
    </EmptyState>
  )
}
