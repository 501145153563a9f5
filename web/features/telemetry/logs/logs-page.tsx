import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { logVolumeQuery, toLogFilters, type LogLine, type LogVolume } from '../../../api/log-queries.ts'
import { carried, paths } from '../../../address/paths.ts'
import { LOG_LEVELS, selectedWindow, type LogsSearch } from '../../../address/search.ts'
import { useKeys } from '../../../app/keys.ts'
import { usePrefs } from '../../../app/prefs.ts'
import { ProjectPage } from '../../../frames/choose-project.tsx'
import { PageQuery } from '../../../frames/page-query.tsx'
import { WindowNote } from '../../../subjects/figures/window-note.tsx'
import { Button, buttonLook } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { formatWindow } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import { PageHead } from '../../../ui/page-head.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Facets } from './log-facets.tsx'
import { AroundList, LiveList, StillList } from './log-list.tsx'
import { LogSearch } from './log-search.tsx'
import { VolumeChart } from './log-volume.tsx'
import { addPair, isNarrowed, shownLevels, sumLevels } from './model.ts'
import { logsTexts as texts } from './texts.ts'
import styles from './logs-page.module.css'

const route = getRouteApi('/signed-in/shell/logs')
const VOLUME_MS = 30_000
const LIVE_VOLUME_MS = 5_000

/** The page of logs: what happened around a moment. */
export function LogsPage() {
  const search = route.useSearch()
  usePrefs()
  return (
    <ProjectPage title={texts.title} search={search} pageOf={paths.logs}>
      {(id) => <Logs key={id} projectId={id} search={search} />}
    </ProjectPage>
  )
}

function Logs({ projectId, search }: { projectId: string; search: LogsSearch }) {
  const navigate = route.useNavigate()
  const change = (next: Partial<LogsSearch>) => void navigate({ search: (before) => ({ ...before, ...next }) })
  const [isFiltering, setFiltering] = useState(false)
  const isLive = search.live === 'on'
  const filters = toLogFilters(search)
  const volume = useQuery({
    ...logVolumeQuery(projectId, filters),
    refetchInterval: filters.to !== undefined ? false : isLive ? LIVE_VOLUME_MS : VOLUME_MS,
  })
  const window = selectedWindow(search)
  const when =
    window === null ? texts.inRange(search.range ?? '1h') : texts.inWindow(formatWindow(window.from, window.to))
  const toggleLive = () => change({ live: isLive ? undefined : 'on', at: undefined, from: undefined, to: undefined })
  useKeys([{ keys: 'l', label: texts.liveTail, group: 'Page', run: toggleLive }])
  const onPair = (side: 'with' | 'without', name: string, value: string) =>
    change({ ...addPair(search, side, name, value), at: undefined })
  const onAround = (line: LogLine) => change({ at: line.occurred_at, live: undefined })
  const onWindow = (next: { from: string; to: string } | null) =>
    change({ from: next?.from, to: next?.to, live: undefined, at: undefined })
  const list = { projectId, filters, volume: volume.data, onPair, onAround }
  // Another filter is another list, with no line open.
  const key = JSON.stringify(filters)
  return (
    <>
      <PageHead
        actions={
          <>
            <Link {...paths.traceMetrics(carried(search))} {...buttonLook({ look: 'ghost' })}>
              <Icon name="metrics" />
              <span>{texts.metrics}</span>
            </Link>
            <Button icon="pulse" keys="l" aria-pressed={isLive} onClick={toggleLive}>
              {texts.liveTail}
            </Button>
          </>
        }
      >
        <h1>{texts.title}</h1>
        {volume.data === undefined ? null : <Minor>{countText(volume.data, search, when)}</Minor>}
      </PageHead>
      <LogSearch
        key={search.q ?? ''}
        search={search}
        onChange={change}
        isFiltering={isFiltering}
        onFilter={() => setFiltering(!isFiltering)}
      />
      <div className={classNames(fitStyles.columns, styles.columns)}>
        <aside className={styles.side} data-open={isFiltering ? '' : undefined} aria-label={texts.filters}>
          <Facets
            projectId={projectId}
            search={search}
            filters={filters}
            volume={volume.data}
            onChange={(next) => change({ ...next, at: undefined })}
          />
        </aside>
        <div className={styles.main}>
          {search.at !== undefined ? (
            <AroundList {...list} key={search.at} at={search.at} onBack={() => change({ at: undefined })} />
          ) : (
            <>
              <WindowNote window={window} onWhole={() => onWindow(null)} />
              <PageQuery query={volume} what={texts.volume} heightPx={210}>
                {(data) => (
                  <VolumeChart
                    projectId={projectId}
                    volume={data}
                    levels={search.level}
                    when={when}
                    onWindow={onWindow}
                  />
                )}
              </PageQuery>
              {isLive ? <LiveList key={key} {...list} /> : <StillList key={key} {...list} />}
            </>
          )}
        </div>
      </div>
    </>
  )
}

/** How many lines are shown, of how many. */
function countText({ totals }: LogVolume, search: LogsSearch, when: string): string {
  const all = sumLevels(totals, LOG_LEVELS)
  const shown = sumLevels(totals, shownLevels(search.level))
  return isNarrowed(search) && shown !== all ? texts.shownOf(shown, all, when) : texts.shown(shown, when)
}
