import { ApiError } from '../../../api/call.ts'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { paths } from '../../../address/paths.ts'
import { operatorQuery, type OperatorStatus } from '../../../api/operator-query.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { usePrefs } from '../../../app/prefs.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { SettingRow } from '../../../frames/setting-row.tsx'
import { Badge, type BadgeTone } from '../../../ui/badge.tsx'
import { BigFigure } from '../../../ui/big-figure.tsx'
import { Button, buttonLook } from '../../../ui/button.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { Sparkline } from '../../../ui/chart/sparkline.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { DataTable } from '../../../ui/data-table.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import fitStyles from '../../../ui/fit.module.css'
import {
  DAY_MS,
  formatAge,
  formatClock,
  formatCount,
  formatDay,
  formatDuration,
  formatSize,
  MINUTE_MS,
  NO_DATA,
} from '../../../ui/format.ts'
import { formatPerSecond } from '../../../ui/format-rate.ts'
import { Icon } from '../../../ui/icon.tsx'
import { KeyValues } from '../../../ui/key-values.tsx'
import { Note } from '../../../ui/note.tsx'
import { useNow } from '../../../ui/now.ts'
import { PageHead } from '../../../ui/page-head.tsx'
import { PageMain } from '../../../ui/page-main.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { FAR_DAYS, operatorTexts as texts } from './texts.ts'
import styles from './operator-page.module.css'
import narrowStyles from '../../../ui/narrow.module.css'
import typeStyles from '../../../ui/type.module.css'

const REFRESH_MS = 5_000
/** Nothing that was heard longer ago is shown as well. */
const OLD_MS = 5 * MINUTE_MS

/** The status of the installation, for who operates it. */
export function OperatorPage() {
  const status = useQuery({
    ...operatorQuery,
    // It does not exist for others.
    refetchInterval: ({ state: { error } }) => (error instanceof ApiError && error.status === 404 ? false : REFRESH_MS),
  })
  usePrefs()
  usePageTitle(texts.title)
  return (
    <PageMain>
      <PageQuery
        query={status}
        what={texts.what}
        pageTitle={texts.title}
        missing={
          <EmptyState
            kind="missing"
            heading="h1"
            title={texts.missing}
            actions={
              <Link {...paths.issues()} {...buttonLook({ look: 'primary' })}>
                <span>{texts.missingAction}</span>
              </Link>
            }
          >
            {texts.missingText}
          </EmptyState>
        }
      >
        {(data) => <Body status={data} />}
      </PageQuery>
    </PageMain>
  )
}

function Body({ status }: { status: OperatorStatus }) {
  const now = useNow('half-minute')
  const isOld = now - Date.parse(status.at) > OLD_MS
  return (
    <>
      <PageHead>
        <div>
          <h1 className={isOld ? typeStyles.quiet : undefined}>
            {isOld ? texts.unheard(formatClock(status.at)) : texts.verdicts[status.verdict]}
          </h1>
          <p>{texts.lead(status.version, formatAge(status.started_at, now))}</p>
        </div>
      </PageHead>
      <div className={fitStyles.column}>
        <Concerns concerns={status.concerns} />
        <div className={classNames(styles.two, narrowStyles.oneColumnAt924)}>
          <EventsCard events={status.events} />
          <DiskCard disk={status.disk} now={now} />
        </div>
        <QueuesCard status={status} />
        <div className={classNames(styles.three, narrowStyles.oneColumnAt924)}>
          <BackupsCard backups={status.backups} />
          <QuarantineCard quarantine={status.quarantine} />
          <JobsCard jobs={status.jobs} />
        </div>
      </div>
    </>
  )
}

const MAX_CONCERNS = 3

function Concerns({ concerns }: { concerns: OperatorStatus['concerns'] }) {
  const [all, setAll] = useState(false)
  const rest = concerns.length - MAX_CONCERNS
  return (
    <>
      {concerns.slice(0, all ? concerns.length : MAX_CONCERNS).map(({ level, part, text }) => (
        <Note key={`${part} ${text}`} tone={level === 'problem' ? 'red' : 'amber'} icon="warn">
          <b>{texts.parts[part] ?? part}.</b> {text}
        </Note>
      ))}
      {all || rest <= 0 ? null : (
        <div>
          <Button size="sm" onClick={() => setAll(true)}>
            {texts.more(formatCount(rest))}
          </Button>
        </div>
      )}
    </>
  )
}

type FigureProps = { name: string; value: string; more?: ReactNode }

const Figure = ({ name, value, more }: FigureProps) => (
  <div>
    <dt>{name}</dt>
    <dd>
      <BigFigure>{value}</BigFigure>
    </dd>
    {more === undefined ? null : (
      <dd>
        <Minor>{more}</Minor>
      </dd>
    )}
  </div>
)

function EventsCard({ events }: { events: OperatorStatus['events'] }) {
  const rates = events.by_quarter_hour.map(({ per_second }) => per_second)
  return (
    <Card title={texts.events.title} header={<Minor>{texts.events.range}</Minor>}>
      <dl className={classNames(styles.figures, typeStyles.metaTerms)}>
        <Figure name={texts.events.now} value={formatPerSecond(events.per_second)} />
        <Figure
          name={texts.events.busiest}
          value={formatPerSecond(events.busiest_per_second)}
          more={events.busiest_at === null ? undefined : texts.events.at(formatClock(events.busiest_at))}
        />
        <Figure name={texts.events.dropped} value={formatCount(events.dropped_24h)} />
      </dl>
      <div className={styles.chart}>
        <Sparkline wide counts={rates} label={texts.events.chart(formatPerSecond(Math.max(0, ...rates)))} />
      </div>
    </Card>
  )
}

function DiskCard({ disk, now }: { disk: OperatorStatus['disk']; now: number }) {
  const { free_bytes: free, total_bytes: total, days_left: days } = disk
  return (
    <Card title={texts.disk.title}>
      <dl className={classNames(styles.figures, typeStyles.metaTerms)}>
        {free === null || total === null ? null : (
          <>
            <Figure
              name={texts.disk.days}
              value={days === null ? NO_DATA : texts.disk.left(days)}
              more={
                days === null
                  ? texts.disk.noDays
                  : days > FAR_DAYS
                    ? texts.disk.farHint
                    : texts.disk.daysHint(formatDay(now + days * DAY_MS, now))
              }
            />
            <Figure
              name={texts.disk.full}
              value={`${Math.round((1 - free / total) * 100)}\u202f%`}
              more={texts.disk.ofTotal(formatSize(total - free), formatSize(total))}
            />
          </>
        )}
        <Figure
          name={texts.disk.database}
          value={formatSize(disk.database_bytes)}
          more={free === null ? texts.disk.external : undefined}
        />
        <Figure name={texts.disk.growth} value={formatSize(disk.bytes_per_day)} />
      </dl>
    </Card>
  )
}

const STEPS = ['intake', 'digestion', 'alert', 'delivery'] as const
type StepState = keyof typeof texts.canary.states

function stateOf(canary: OperatorStatus['canary'], index: number): StepState {
  if (canary.failed_step === null) return canary.last_arrived_at === null ? 'unknown' : 'done'
  const failed = STEPS.indexOf(canary.failed_step)
  return index < failed ? 'done' : index === failed ? 'failed' : 'unknown'
}

const STEP_ICONS = { done: 'good', failed: 'bad', unknown: 'clock' } as const

/** The way of the last test event, step by step. */
function Chain({ canary }: { canary: OperatorStatus['canary'] }) {
  if (canary.state === 'off') return <p className={styles.chain}>{texts.canary.off}</p>
  return (
    <ol className={styles.chain} aria-label={texts.canary.chain}>
      <li data-state={canary.last_started_at === null ? 'unknown' : 'done'}>
        <Icon name="send" />
        <span>{texts.canary.sent}</span>
        {canary.last_started_at === null ? null : <Minor>{formatClock(canary.last_started_at)}</Minor>}
      </li>
      {STEPS.map((step, index) => {
        const state = stateOf(canary, index)
        return (
          <li key={step} data-state={state} className={state === 'unknown' ? typeStyles.quiet : undefined}>
            <Icon name={STEP_ICONS[state]} label={texts.canary.states[state]} />
            <span>{texts.canary.steps[step]}</span>
          </li>
        )
      })}
      {canary.duration_ms === null ? null : (
        <li>
          <Minor>{texts.canary.took(formatDuration(canary.duration_ms))}</Minor>
        </li>
      )}
    </ol>
  )
}

function QueuesCard({ status }: { status: OperatorStatus }) {
  return (
    <Card title={texts.canary.title}>
      <Chain canary={status.canary} />
      <DataTable
        rows={status.queues}
        keyOf={({ name }) => name}
        columns={[
          { head: texts.queues.queue, cell: ({ name }) => texts.queues.names[name] },
          { head: texts.queues.waiting, numeric: true, cell: ({ waiting }) => formatCount(waiting) },
          {
            head: texts.queues.oldest,
            numeric: true,
            cell: ({ oldest_seconds: seconds }) =>
              seconds === 0 ? <Minor>{texts.queues.none}</Minor> : formatDuration(seconds * 1000),
          },
          {
            head: texts.queues.givenUp,
            numeric: true,
            cell: ({ given_up: count }) => formatCount(count),
          },
        ]}
      />
    </Card>
  )
}

const BACKUP_TONES: Readonly<Record<OperatorStatus['backups']['state'], BadgeTone>> = {
  restorable: 'green',
  made: 'amber',
  failed: 'red',
  none: 'red',
}

function BackupsCard({ backups }: { backups: OperatorStatus['backups'] }) {
  const moment = (at: string | null) => (at === null ? texts.backups.never : <Time at={at} as="since" />)
  return (
    <Card
      title={texts.backups.title}
      header={<Badge tone={BACKUP_TONES[backups.state]}>{texts.backups.states[backups.state]}</Badge>}
    >
      <KeyValues>
        <div>
          <dt>{texts.backups.last}</dt>
          <dd>{moment(backups.last_complete_at)}</dd>
        </div>
        <div>
          <dt>{texts.backups.every}</dt>
          <dd>
            {backups.every_hours === null
              ? texts.backups.notScheduled
              : texts.backups.everyHours(formatCount(backups.every_hours))}
          </dd>
        </div>
        <div>
          <dt>{texts.backups.drill}</dt>
          <dd>{moment(backups.last_drill_at)}</dd>
        </div>
        <div>
          <dt>{texts.backups.restorable}</dt>
          <dd>{moment(backups.last_restorable_at)}</dd>
        </div>
      </KeyValues>
    </Card>
  )
}

const QuarantineCard = ({ quarantine }: { quarantine: OperatorStatus['quarantine'] }) => (
  <Card title={texts.quarantine.title}>
    {quarantine.length === 0 ? <p className={styles.chain}>{texts.quarantine.empty}</p> : null}
    <ul>
      {quarantine.map(({ reason, count, oldest_at: oldest }) => (
        <SettingRow key={reason} title={reason} more={<Time at={oldest} as="since" />}>
          <span>×{formatCount(count)}</span>
        </SettingRow>
      ))}
    </ul>
  </Card>
)

const JOBS_FIRST = 6

function JobsCard({ jobs }: { jobs: OperatorStatus['jobs'] }) {
  const [all, setAll] = useState(false)
  const newest = jobs.toSorted((a, b) => (b.last_run_at ?? '').localeCompare(a.last_run_at ?? ''))
  return (
    <Card title={texts.jobs.title} header={<Minor>{texts.jobs.lead}</Minor>}>
      {jobs.length === 0 ? <p className={styles.chain}>{texts.jobs.none}</p> : null}
      <KeyValues>
        {newest.slice(0, all ? newest.length : JOBS_FIRST).map(({ name, last_run_at: at }) => (
          <div key={name}>
            <dt className={typeStyles.mono}>{name}</dt>
            <dd>{at === null ? texts.jobs.never : <Time at={at} as="since" />}</dd>
          </div>
        ))}
      </KeyValues>
      {all || jobs.length <= JOBS_FIRST ? null : (
        <CardFooter>
          <Button size="sm" onClick={() => setAll(true)}>
            {texts.jobs.all(formatCount(jobs.length))}
          </Button>
        </CardFooter>
      )}
    </Card>
  )
}
