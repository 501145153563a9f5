import { Link } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import type { Trace } from '../../../api/trace-queries.ts'
import { BigFigure } from '../../../ui/big-figure.tsx'
import { buttonLook } from '../../../ui/button.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { formatDuration, formatShare } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import { KeyValues } from '../../../ui/key-values.tsx'
import { Minor, ShortId } from '../../../ui/text.tsx'
import typeStyles from '../../../ui/type.module.css'
import { formatMillis, formatSpanLength } from './clock.ts'
import { ownTimeMs, type Node } from './model.ts'
import { LevelIcon } from './level-icon.tsx'
import { ProjectMark, type SeriesOf } from './project-mark.tsx'
import { traceTexts as texts } from './texts.ts'
import styles from './span-detail.module.css'

/** One span: its times, its share of the critical path, errors and log lines in it, and its attributes. */
export function SpanDetail({ trace, node, series }: { trace: Trace; node: Node; series: SeriesOf }) {
  const { span, errors, logs } = node
  const { detail } = texts
  const project = trace.projects.find(({ project_id: id }) => id === span.project_id)
  const startMs = Date.parse(trace.started_at) + span.start_ms
  const onPathMs = trace.critical_path.reduce(
    (sum, piece) => sum + (piece.span_id === span.span_id ? piece.duration_ms : 0),
    0,
  )
  const data = Object.entries(span.data)
  return (
    <Card
      className={styles.detail}
      title={<span className={fitStyles.breaks}>{span.description || span.op}</span>}
      header={
        <Link
          {...paths.trace(trace.trace_id)}
          replace
          resetScroll={false}
          aria-label={detail.close}
          {...buttonLook({ look: 'ghost', size: 'sm', square: true, className: fitStyles.atEnd })}
        >
          <Icon name="x" />
        </Link>
      }
    >
      <p className={fitStyles.inset10}>
        <BigFigure>{formatSpanLength(span.duration_ms)}</BigFigure> <Minor>{span.op}</Minor>
      </p>
      <div className={fitStyles.inset12}>
        <KeyValues narrow>
          <div>
            <dt>{detail.project}</dt>
            <dd>
              {project === undefined ? null : <ProjectMark name={project.name} series={series(span.project_id)} />}
            </dd>
          </div>
          {project === undefined || project.releases.length === 0 ? null : (
            <div>
              <dt>{detail.release}</dt>
              <dd className={typeStyles.mono}>{project.releases.join(', ')}</dd>
            </div>
          )}
          <div>
            <dt>{detail.from}</dt>
            <dd className={typeStyles.mono}>{formatMillis(startMs)}</dd>
          </div>
          <div>
            <dt>{detail.to}</dt>
            <dd className={typeStyles.mono}>{formatMillis(startMs + span.duration_ms)}</dd>
          </div>
          <div>
            <dt>{detail.own}</dt>
            <dd>{formatSpanLength(ownTimeMs(node))}</dd>
          </div>
          <div>
            <dt>{detail.share}</dt>
            <dd>
              {onPathMs === 0
                ? detail.notOnPath
                : `${formatShare(onPathMs / trace.wait_ms)}, ${formatDuration(onPathMs)}`}
            </dd>
          </div>
          <div>
            <dt>{detail.status}</dt>
            <dd className={span.status === 'error' ? typeStyles.red : undefined}>{detail.statuses[span.status]}</dd>
          </div>
        </KeyValues>
        {node.isOrphan ? <Minor as="p">{texts.orphan}</Minor> : null}
      </div>
      {errors.length + logs.length === 0 ? null : (
        <section className={styles.section}>
          <h3>{detail.inSpan}</h3>
          <ul className={fitStyles.icons14}>
            {errors.map((error) => (
              <li key={error.event_id} className={typeStyles.red}>
                <Icon name="warn" />
                <Link
                  {...paths.issue(error.issue_id, { event: error.event_id })}
                  className={classNames(fitStyles.ellipsis, choiceStyles.underlines)}
                >
                  {error.title}
                </Link>
                <ShortId>{error.short_id}</ShortId>
              </li>
            ))}
            {logs.map((log) => (
              <li key={log.id}>
                <LevelIcon level={log.level} />
                <span className={fitStyles.ellipsis} title={log.body}>
                  {log.body}
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section className={styles.section}>
        <h3>{detail.attributes}</h3>
        <KeyValues className={typeStyles.codeValues}>
          {data.map(([name, value]) => (
            <div key={name}>
              <dt className={fitStyles.breaks}>{name}</dt>
              <dd>{String(value)}</dd>
            </div>
          ))}
          <div>
            <dt>{detail.id}</dt>
            <dd>{span.span_id}</dd>
          </div>
        </KeyValues>
      </section>
      {span.is_segment && span.description !== '' ? (
        <CardFooter note={<Link {...paths.traces({ name: [span.description] })}>{detail.like}</Link>} />
      ) : null}
    </Card>
  )
}
