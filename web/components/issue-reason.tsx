import type { IssueDetail } from '../api/issue-queries.ts'
import { formatClock, formatDay } from '../ui/format.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { issue as words } from '../words/issue.ts'
import { versionOf } from './issue-trend.ts'

/** Why the status is what it is, for moves nobody made by hand and for what was decided. */
type IssueReasonProps = { issue: IssueDetail; onShow: (eventId: string) => void }

export function IssueReason({ issue, onShow }: IssueReasonProps) {
  const { status, status_reason, last_release, activity } = issue
  if (status_reason === null || status === 'unresolved') return null
  const move = activity.find((entry) => entry.kind === 'status_changed')
  const byItself = move !== undefined && move.actor === null
  const evidence = byItself ? move.data.event_id : null
  const eventId = typeof evidence === 'string' ? evidence.replaceAll('-', '') : null
  const title =
    status === 'regressed'
      ? words.reasons.regressed(last_release === null ? null : versionOf(last_release))
      : words.reasons[status]
  return (
    <section className={`reason reason-${status}`} aria-labelledby="h-why">
      <span className="reason-i">
        <Icon name={`st-${status}`} />
      </span>
      <div className="reason-b">
        <h2 id="h-why">
          {title}
          {byItself ? `. ${words.movedAt(`${formatDay(move.created_at)} ${formatClock(move.created_at)}`)}` : null}
        </h2>
        <p>{status_reason}</p>
      </div>
      {eventId === null || issue.event?.event_id === eventId ? null : (
        <div className="reason-a">
          <Button size="sm" onClick={() => onShow(eventId)}>
            {words.showEvent}
          </Button>
        </div>
      )}
    </section>
  )
}
