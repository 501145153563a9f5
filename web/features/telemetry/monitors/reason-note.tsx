import { formatDuration } from '../../../ui/format.ts'
import fitStyles from '../../../ui/fit.module.css'
import { Note } from '../../../ui/note.tsx'
import { useNow } from '../../../ui/now.ts'
import { Minor } from '../../../ui/text.tsx'
import type { MonitorRun } from '../../../api/monitor-queries.ts'
import { goodInARow, lateMs, limitMs, newestInARow, neededRecoveries, shownState, type MonitorPart } from './model.ts'
import { monitorsTexts as texts } from './texts.ts'
import { formatWhen } from './when.ts'
import styles from './reason-note.module.css'

/** Why the monitor is not OK; nothing where it is. */
export function ReasonNote({ part }: { part: MonitorPart }) {
  const note = <Reason part={part} />
  return isSilent(part) ? null : <div className={fitStyles.gapAfter}>{note}</div>
}

const isSilent = ({ monitor, environment }: MonitorPart): boolean =>
  monitor.state === 'active' && (!environment.is_failing || environment.problem === null)

function Reason({ part }: { part: MonitorPart }) {
  const now = useNow('half-minute')
  const { monitor, environment } = part
  if (monitor.state !== 'active') {
    const isPaused = monitor.state === 'paused'
    return (
      <Note tone="plain" icon={isPaused ? 'pause' : 'bell'}>
        <b>{isPaused ? texts.pausedTitle : texts.mutedTitle}</b> {isPaused ? texts.pausedText : texts.mutedText}
      </Note>
    )
  }
  const { problem, status, runs } = environment
  if (!environment.is_failing || problem === null) return null
  const bad = status === problem ? newestInARow(environment) : runs.filter(({ kind }) => kind === problem).slice(-1)
  const isSlow = shownState(part) === 'long' || shownState(part) === 'late'
  const good = runs.findLast(({ kind }) => kind === 'ok')
  const release = problem === 'missed' ? null : newRelease(runs, bad)
  return (
    <Note tone={isSlow ? 'amber' : 'red'} icon={problem === 'failed' ? 'x' : 'clock'}>
      <p>
        <b>{titleOf(part, problem, bad, now)}</b>{' '}
        {good?.began_at == null ? texts.noneGood : texts.lastGood(formatWhen(good.began_at, now))}
        {release === null ? null : ` ${texts.releaseBetween(release)}`}
      </p>
      {status === 'ok' ? (
        <Minor as="p" className={styles.more}>
          {texts.goodAgain(goodInARow(runs), neededRecoveries(monitor))}
        </Minor>
      ) : null}
    </Note>
  )
}

function titleOf({ monitor }: MonitorPart, problem: string, bad: readonly MonitorRun[], now: number): string {
  const [newest] = bad.slice(-1)
  const at = (run: MonitorRun | undefined): string => {
    const time = run?.expected_at ?? run?.began_at
    return time == null ? '' : formatWhen(time, now)
  }
  if (problem === 'missed') return texts.noCheckIn(timesOf(bad.map(at)), bad.length)
  if (problem === 'failed') return texts.failedTitle(at(newest), bad.length)
  if (problem === 'long') {
    const over = formatDuration((newest?.duration_ms ?? 0) - limitMs(monitor))
    return texts.longTitle(at(newest), newest?.is_running === true, over)
  }
  return texts.lateTitle(at(newest), formatDuration(newest === undefined ? 0 : lateMs(newest)))
}

/** `14:00 and 14:05`, and of more the first and the last. */
function timesOf(times: readonly string[]): string {
  const [first = '', ...others] = times
  const last = others.at(-1)
  if (last === undefined) return first
  return others.length === 1 ? texts.and(first, last) : texts.span(first, last)
}

/** The release of the first run that went wrong, where the run before had another. */
function newRelease(runs: readonly MonitorRun[], bad: readonly MonitorRun[]): string | null {
  const [first] = bad
  if (first?.release == null) return null
  const before = runs.slice(0, runs.indexOf(first)).findLast(({ release }) => release !== null)
  return before === undefined || before.release === first.release ? null : first.release
}
