import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { paths } from '../../../address/paths.ts'
import type { Trace } from '../../../api/trace-queries.ts'
import { BigFigure } from '../../../ui/big-figure.tsx'
import { toneClass, type ChartTone } from '../../../ui/chart/tones.ts'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { formatDuration, formatShare } from '../../../ui/format.ts'
import { Minor } from '../../../ui/text.tsx'
import typeStyles from '../../../ui/type.module.css'
import { pathShares, type Tree } from './model.ts'
import { traceTexts as texts } from './texts.ts'
import styles from './path-card.module.css'

/** The darkest for the most time. */
const RANKS: readonly ChartTone[] = ['p95', 'p75', 'p50']

/** The time of the first span, split along the critical path. */
export function PathCard({ trace, tree }: { trace: Trace; tree: Tree }) {
  const { top, restMs } = useMemo(() => pathShares(trace, tree), [trace, tree])
  return (
    <div className={styles.path}>
      <h2 className={classNames(typeStyles.meta, typeStyles.medium)}>{texts.wait}</h2>
      <p>
        <BigFigure>{formatDuration(trace.wait_ms)}</BigFigure>{' '}
        <Minor className={fitStyles.breaks}>{texts.waitOf(trace.op === '' ? trace.name : trace.op)}</Minor>
      </p>
      <div className={classNames(styles.bar, fitStyles.ownColours)} aria-hidden="true">
        {top.map(({ span, share }, index) => (
          <i key={span.span_id} className={toneClass(RANKS[index] ?? 'p50')} style={{ flexGrow: share }} />
        ))}
        {restMs > 0 && trace.wait_ms > 0 ? <i style={{ flexGrow: restMs / trace.wait_ms }} /> : null}
      </div>
      <ul className={classNames(typeStyles.figures, fitStyles.ownColours)}>
        {top.map(({ span, ms, share }, index) => (
          <li key={span.span_id}>
            <i className={toneClass(RANKS[index] ?? 'p50')} aria-hidden="true" />
            <Link
              {...paths.trace(trace.trace_id, { span: span.span_id })}
              resetScroll={false}
              replace
              className={classNames(fitStyles.ellipsis, choiceStyles.underlines)}
            >
              {span.description || span.op}
            </Link>
            <span>{formatDuration(ms)}</span>
            <Minor className={fitStyles.textEnd}>{formatShare(share)}</Minor>
          </li>
        ))}
        {restMs < 0.5 ? null : (
          <li>
            <i aria-hidden="true" />
            <span>{texts.allElse}</span>
            <span>{formatDuration(restMs)}</span>
            <Minor className={fitStyles.textEnd}>{formatShare(restMs / trace.wait_ms)}</Minor>
          </li>
        )}
      </ul>
    </div>
  )
}
