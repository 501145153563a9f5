import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { carried, paths } from '../../../address/paths.ts'
import { monitorQuery, type Monitor } from '../../../api/monitor-queries.ts'
import { projectsQuery } from '../../../api/queries.ts'
import { usePageProject } from '../../../app/page-project.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { usePrefs } from '../../../app/prefs.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { Button, buttonLook } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { Crumbs } from '../../../ui/crumbs.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Menu } from '../../../ui/menu.tsx'
import { useNow } from '../../../ui/now.ts'
import { PageHead } from '../../../ui/page-head.tsx'
import { PageMain } from '../../../ui/page-main.tsx'
import { PlatformTile } from '../../../ui/platform-tile.tsx'
import typeStyles from '../../../ui/type.module.css'
import { EditMonitor } from './edit-monitor.tsx'
import { shownState, type MonitorPart } from './model.ts'
import { MonitorActions } from './monitor-actions.tsx'
import { ReasonNote } from './reason-note.tsx'
import { RuleCard } from './rule-card.tsx'
import { RunChart } from './run-chart.tsx'
import { RunTable } from './run-table.tsx'
import { scheduleInWords } from './schedule-words.ts'
import { SendCard } from './send-card.tsx'
import { SettingsCard } from './settings-card.tsx'
import { StateMark } from './state-mark.tsx'
import { monitorsTexts as texts } from './texts.ts'
import { formatNext, formatUntil } from './when.ts'
import styles from './monitor-page.module.css'

const route = getRouteApi('/signed-in/shell/monitors/$monitorId')

/** Runs are judged by the clock, so that nothing announces one that is missed. */
const REFRESH_MS = 30_000

/** The page of one monitor: why it is not OK, its runs, its rules and its settings. */
export function MonitorPage() {
  const { monitorId } = route.useParams()
  const { project } = route.useSearch()
  const monitor = useQuery({ ...monitorQuery(monitorId), refetchInterval: REFRESH_MS, meta: { quiet: true } })
  usePrefs()
  usePageProject(monitor.data?.project_id ?? null)
  usePageTitle(monitor.data?.slug ?? texts.one)
  return (
    <PageMain>
      <PageQuery
        query={monitor}
        what={texts.one}
        pageTitle={texts.one}
        missing={
          <EmptyState
            kind="missing"
            heading="h1"
            title={texts.missing}
            actions={
              <Link {...paths.monitors({ project })} {...buttonLook({ look: 'primary' })}>
                <span>{texts.back}</span>
              </Link>
            }
          >
            {texts.missingText}
          </EmptyState>
        }
      >
        {(data) => <Body key={data.id} monitor={data} />}
      </PageQuery>
    </PageMain>
  )
}

function Body({ monitor }: { monitor: Monitor }) {
  const search = route.useSearch()
  const [isEditing, setEditing] = useState(false)
  const environment =
    monitor.environments.find(({ name }) => name === (search.env ?? 'production')) ?? monitor.environments[0]
  const list = paths.monitors(carried({ project: search.project, range: undefined }))
  return (
    <>
      <Crumbs label={texts.title} list={<Link {...list}>{texts.title}</Link>}>
        <span className={classNames(typeStyles.mono, fitStyles.shrinks, fitStyles.ellipsis)}>{monitor.slug}</span>
      </Crumbs>
      <PageHead actions={<MonitorActions monitor={monitor} list={list} onEdit={() => setEditing(true)} />}>
        <div className={fitStyles.shrinks}>
          <h1 className={typeStyles.longTitle}>{monitor.slug}</h1>
          {environment === undefined ? null : <Facts part={{ monitor, environment }} />}
        </div>
      </PageHead>
      {environment === undefined ? null : <ReasonNote part={{ monitor, environment }} />}
      <div className={classNames(fitStyles.columns, styles.columns)}>
        <div className={fitStyles.column}>
          {environment === undefined ? null : (
            <>
              <RunChart monitor={monitor} runs={environment.runs} />
              <RunTable monitor={monitor} runs={environment.runs} />
            </>
          )}
        </div>
        <div className={fitStyles.column}>
          <RuleCard monitor={monitor} />
          <SendCard monitor={monitor} />
          <SettingsCard monitor={monitor} />
        </div>
      </div>
      {isEditing ? <EditMonitor monitor={monitor} onClose={() => setEditing(false)} /> : null}
    </>
  )
}

function Facts({ part }: { part: MonitorPart }) {
  const { monitor, environment } = part
  const now = useNow('half-minute')
  const project = useQuery(projectsQuery).data?.items.find(({ id }) => id === monitor.project_id)
  const state = shownState(part)
  const { schedule, timezone } = monitor
  const words = schedule === null ? texts.noSchedule : (scheduleInWords(schedule) ?? String(schedule.value))
  const left = environment.next_at === null ? null : formatUntil(environment.next_at, now)
  return (
    <div className={styles.facts}>
      <StateMark state={state} text={texts.stateInARow(texts.states[state], stateCount(part))} />
      {project === undefined ? null : (
        <span>
          <PlatformTile platform={project.platform} quiet />
          <span className={fitStyles.breaks}>{project.name}</span>
        </span>
      )}
      <Environment monitor={monitor} name={environment.name} />
      <span>{schedule?.type === 'crontab' ? `${words}, ${timezone ?? 'UTC'}` : words}</span>
      {environment.next_at === null || left === null ? null : (
        <span>{texts.nextRun(formatNext(environment.next_at, now, monitor), left)}</span>
      )}
    </div>
  )
}

const stateCount = ({ environment: { problem, status, in_a_row: count } }: MonitorPart): number =>
  problem === status ? count : 1

/** The environment; a menu where the monitor has several. */
function Environment({ monitor, name }: { monitor: Monitor; name: string }) {
  const navigate = route.useNavigate()
  if (monitor.environments.length < 2) return <span className={fitStyles.breaks}>{name}</span>
  return (
    <Menu
      label={texts.environment}
      trigger={
        <Button size="sm" caret className={fitStyles.narrowButton} aria-label={texts.environmentOf(name)}>
          {name}
        </Button>
      }
      entries={monitor.environments.map((one) => ({
        label: one.name,
        checked: one.name === name,
        onSelect: () => void navigate({ search: (before) => ({ ...before, env: one.name }), resetScroll: false }),
      }))}
    />
  )
}
