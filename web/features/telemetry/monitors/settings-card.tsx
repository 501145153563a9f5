import type { ReactNode } from 'react'
import type { Monitor } from '../../../api/monitor-queries.ts'
import { Card } from '../../../ui/card.tsx'
import { formatDuration, formatMoment, zoneName } from '../../../ui/format.ts'
import { KeyValues } from '../../../ui/key-values.tsx'
import { Time } from '../../../ui/time.tsx'
import { Minor } from '../../../ui/text.tsx'
import typeStyles from '../../../ui/type.module.css'
import { graceMs, limitMs, neededFailures, neededRecoveries } from './model.ts'
import { scheduleInWords } from './schedule-words.ts'
import { monitorsTexts as texts } from './texts.ts'

/** The settings of a monitor, and its next runs. */
export function SettingsCard({ monitor }: { monitor: Monitor }) {
  const { schedule, timezone } = monitor
  const rows: [label: string, value: ReactNode][] = [
    [texts.schedule, <ScheduleValue key="schedule" schedule={schedule} />],
    ...(schedule?.type === 'crontab' ? [[texts.timezone, timezone ?? 'UTC'] satisfies [string, ReactNode]] : []),
    [texts.grace, formatDuration(graceMs(monitor))],
    [texts.limit, formatDuration(limitMs(monitor))],
    [texts.failsAfter, texts.badRuns(neededFailures(monitor))],
    [texts.recoversAfter, texts.badRuns(neededRecoveries(monitor))],
    [texts.owner, monitor.owner ?? <Minor>{texts.noOwner}</Minor>],
    [texts.madeBy, <Time key="made" at={monitor.created_at} as="moment" />],
    ...(schedule === null
      ? []
      : [[texts.nextRuns, <NextRuns key="next" monitor={monitor} />] satisfies [string, ReactNode]]),
  ]
  return (
    <Card title={texts.settings}>
      <KeyValues>
        {rows.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </KeyValues>
    </Card>
  )
}

function ScheduleValue({ schedule }: { schedule: Monitor['schedule'] }) {
  if (schedule === null) return texts.noSchedule
  const words = scheduleInWords(schedule)
  if (schedule.type === 'interval') return words
  return (
    <>
      <span className={typeStyles.mono}>{schedule.value}</span>
      {words === null ? null : <Minor as="p">{words}</Minor>}
    </>
  )
}

/** The next five runs that a crontab expects. */
export function NextRuns({ monitor }: { monitor: Pick<Monitor, 'next_runs' | 'schedule'> }) {
  const { next_runs: next, schedule } = monitor
  if (next.length === 0) return <Minor>{schedule?.type === 'interval' ? texts.byInterval : texts.notPlanned}</Minor>
  return (
    <ol className={typeStyles.figures}>
      {next.map((at) => (
        <li key={at}>{`${formatMoment(at)} ${zoneName(at)}`}</li>
      ))}
    </ol>
  )
}
