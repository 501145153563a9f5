import type { MonitorRun } from '../../../api/monitor-queries.ts'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import narrowStyles from '../../../ui/narrow.module.css'
import { countKinds, RUN_KINDS } from './model.ts'
import { monitorsTexts as texts } from './texts.ts'
import styles from './run-bars.module.css'

const BARS = 30

/** The newest runs as bars, oldest first; grey ones stand for runs that did not happen yet. */
export function RunBars({ runs }: { runs: readonly MonitorRun[] }) {
  const newest = runs.slice(-BARS)
  const counts = countKinds(newest)
  const known = RUN_KINDS.flatMap((kind) => (counts[kind] === 0 ? [] : [[kind, counts[kind]] as const]))
  return (
    <span
      className={classNames(styles.bars, fitStyles.ownColours)}
      role="img"
      aria-label={texts.runsLabel(newest.length, known)}
    >
      {Array.from({ length: BARS - newest.length }, (_, place) => (
        <i key={`none ${place}`} data-run="none" />
      ))}
      {newest.map((run, place) => (
        <i
          key={`${place} ${run.expected_at ?? run.check_in_id}`}
          data-run={run.kind}
          data-running={run.is_running ? '' : undefined}
        />
      ))}
    </span>
  )
}

/** The names of the bars. */
export const RunLegend = () => (
  <span
    className={classNames(styles.legend, narrowStyles.hiddenAt600, fitStyles.atEnd, fitStyles.ownColours)}
    aria-hidden="true"
  >
    {(['ok', 'late', 'long', 'failed', 'missed'] as const).map((kind) => (
      <span key={kind}>
        <i data-run={kind} />
        {kind === 'ok' ? texts.kinds.ok : texts.kinds[kind].toLowerCase()}
      </span>
    ))}
  </span>
)
