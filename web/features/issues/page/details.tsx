import type { IssueDetail } from '../../../api/issue-queries.ts'
import { Activity } from './activity.tsx'
import { AttachmentsCard } from './attachments.tsx'
import { CommitsCard } from './commits.tsx'
import { ContextsCard, ProcessingNotes, RequestCard, UserCard } from './contexts/contexts.tsx'
import { FeedbackCard } from './feedback.tsx'
import { eventStacks } from './stack-trace/model.ts'
import { TicketCard } from './ticket.tsx'
import { IssueTags } from './tags.tsx'

type IssueDetailsProps = { issue: IssueDetail; onOnly: (only: string) => void }

/** The main column below the stack trace and breadcrumbs; loaded after the page. */
export function IssueDetails({ issue, onOnly }: IssueDetailsProps) {
  const { event } = issue
  return (
    <>
      <CommitsCard issue={issue} />
      <TicketCard issue={issue} />
      <FeedbackCard issue={issue} />
      {event === null ? null : <AttachmentsCard key={`files ${event.event_id}`} issue={issue} />}
      {/* Without a stack trace they are above the breadcrumbs. */}
      {event !== null && eventStacks(event).length === 0 ? null : (
        <IssueTags issue={issue} event={event} onOnly={onOnly} />
      )}
      {event === null ? null : (
        <>
          <RequestCard event={event} />
          <UserCard event={event} />
          <ContextsCard event={event} />
          <ProcessingNotes event={event} />
        </>
      )}
      <Activity issue={issue} />
    </>
  )
}
