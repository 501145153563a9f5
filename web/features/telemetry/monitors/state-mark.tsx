import { classNames } from '../../../ui/class-names.ts'
import { formatDuration } from '../../../ui/format.ts'
import { Icon, type IconName } from '../../../ui/icon.tsx'
import statusStyles from '../../../ui/status.module.css'
import typeStyles from '../../../ui/type.module.css'
import {
  neededFailures,
  goodInARow,
  lateMs,
  limitMs,
  newestInARow,
  neededRecoveries,
  shownState,
  type MonitorPart,
  type RunKind,
  type ShownState,
} from './model.ts'
import { monitorsTexts as texts } from './texts.ts'
import { formatWhen } from './when.ts'

const ICONS: Readonly<Record<ShownState | RunKind, IconName>> = {
  ok: 'check',
  late: 'clock',
  long: 'clock',
  failed: 'x',
  missed: 'clock',
  running: 'rotate',
  waiting: 'info',
  paused: 'pause',
  muted: 'bell',
}
const COLOURS: Readonly<Record<ShownState | RunKind, string | undefined>> = {
  ok: typeStyles.green,
  late: typeStyles.amber,
  long: typeStyles.amber,
  failed: typeStyles.red,
  missed: typeStyles.red,
  running: typeStyles.slate,
  waiting: typeStyles.slate,
  paused: typeStyles.slate,
  muted: typeStyles.slate,
}

/** A state of a monitor or the outcome of a run: icon, word and colour. */
export const StateMark = ({ state, text = texts.states[state] }: { state: ShownState | RunKind; text?: string }) => (
  <span className={classNames(statusStyles.word, COLOURS[state])}>
    <Icon name={ICONS[state]} />
    {text}
  </span>
)

/** Why a monitor has its state; null when there is nothing to say. */
export function stateReason(part: MonitorPart, now: number): string | null {
  const { monitor, environment } = part
  const { status, since, in_a_row: count } = environment
  const state = shownState(part)
  if (state === 'paused' || state === 'muted')
    return monitor.state_at === null ? null : texts.since(formatWhen(monitor.state_at, now))
  if (state === 'waiting') return texts.waiting
  if (state === 'ok') return null
  if (environment.is_failing && status === 'ok')
    return texts.recovering(goodInARow(environment.runs), neededRecoveries(monitor))
  if (!environment.is_failing) return texts.tolerated(count, neededFailures(monitor))
  const [newest] = newestInARow(environment).slice(-1)
  if (count === 1 && newest !== undefined) {
    if (state === 'long' && newest.duration_ms !== null)
      return texts.overLimit(formatDuration(newest.duration_ms - limitMs(monitor)))
    const late = lateMs(newest)
    if (state === 'late' && late !== null)
      return newest.is_running ? texts.lateRunning(formatDuration(late)) : texts.lateEndedWell(formatDuration(late))
  }
  if (since === null) return null
  const at = formatWhen(since, now)
  return count === 1 ? texts.since(at) : texts.inARow(count, at)
}
