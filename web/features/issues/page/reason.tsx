import { toIssueRow, useIssueEdit, type Edit } from '../../../subjects/issue/changes.ts'
import type { IssueDetail } from '../../../api/issue-queries.ts'
import { useCan } from '../../../app/can.ts'
import { formatClock, formatDay } from '../../../ui/format.ts'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { issueTexts } from './texts.ts'
import { withLocalTimes } from '../../../subjects/issue/local-times.ts'
import { decideTexts } from '../../../subjects/issue/decide-texts.ts'
import { IssueTrack } from './track.tsx'
import { shortVersion } from '../../../subjects/issue/trend.ts'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import narrowStyles from '../../../ui/narrow.module.css'
import typeStyles from '../../../ui/type.module.css'
import issueStyles from './issue.module.css'
import styles from './reason.module.css'

/** The reason of the present status, of an automatic change or a member's decision. */
type IssueReasonProps = { issue: IssueDetail; onShow: (eventId: string) => void }

export function IssueReason({ issue, onShow }: IssueReasonProps) {
  const change = useCan('issues.write')
  const edit = useIssueEdit()
  const { status, status_reason, activity } = issue
  if (status_reason === null || status === 'unresolved') return null
  const move = activity.find((entry) => entry.kind === 'status_changed')
  const byItself = move !== undefined && move.actor === null
  const evidence = byItself ? move.data.event_id : null
  const eventId = typeof evidence === 'string' ? evidence.replaceAll('-', '') : null
  const back = byItself && status === 'regressed' ? textOf(move.data['release']) : null
  const fixed = byItself && status === 'regressed' ? fixedOf(move.data) : null
  const title =
    status === 'regressed'
      ? issueTexts.reasons.regressed(back === null ? null : shortVersion(back))
      : issueTexts.reasons[status]
  return (
    <section className={issueStyles.reason} data-status={status} aria-labelledby="h-why">
      <span className={classNames(styles.reasonI, TONES[status])}>
        <Icon name={`st-${status}`} />
      </span>
      <div className={classNames(fitStyles.shrinks, fitStyles.breaks)}>
        <h2 id="h-why">
          {title}
          {byItself ? `. ${issueTexts.movedAt(`${formatDay(move.created_at)} ${formatClock(move.created_at)}`)}` : null}
        </h2>
        <p>{withLocalTimes(status_reason)}</p>
      </div>
      {back === null || fixed === null ? null : (
        <IssueTrack
          issueId={issue.id}
          projectId={issue.project_id}
          fixed={fixed}
          back={back}
          at={move?.created_at ?? ''}
        />
      )}
      {byItself ? (
        <div className={classNames(styles.reasonA, fitStyles.wraps, narrowStyles.wholeRowAt600)}>
          {eventId === null || issue.event?.event_id === eventId ? null : (
            <Button size="sm" onClick={() => onShow(eventId)}>
              {issueTexts.showEvent}
            </Button>
          )}
          {status === 'regressed' ? (
            <Button
              size="sm"
              why={change.why}
              title={decideTexts.notRegressedMore}
              onClick={() => edit.mutate({ issues: [toIssueRow(issue)], edit: notRegressed(back) })}
            >
              {decideTexts.notRegressed}
            </Button>
          ) : null}
        </div>
      ) : null}
    </section>
  )
}

/** The colour of the sign. */
const TONES = {
  regressed: typeStyles.violet,
  escalated: typeStyles.vermilion,
  resolved: typeStyles.green,
  ignored: typeStyles.slate,
}

/** Resolves the issue for every release seen so far; without releases, from now. */
const notRegressed = (back: string | null): Edit => ({
  kind: 'status',
  status: 'resolved',
  resolution: back === null ? { now: true } : { in_next_release: true },
})

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** The release with the fix; of several the last one. */
function fixedOf(data: Record<string, unknown>): string | null {
  const versions = data['fixed_in']
  const last: unknown = Array.isArray(versions) ? versions.at(-1) : null
  return textOf(last)
}
