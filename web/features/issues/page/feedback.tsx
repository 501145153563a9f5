import { Link } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import type { IssueDetail } from '../../../api/issue-queries.ts'
import { Card } from '../../../ui/card.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { fileTexts } from './file-texts.ts'
import { Files } from './attachments.tsx'
import { safeUrl } from '../../../ui/safe-url.ts'
import { LongText } from './contexts/value.tsx'
import styles from './feedback.module.css'
import issueStyles from './issue.module.css'
import typeStyles from '../../../ui/type.module.css'

const MAX_COLLAPSED = 600
/** The maximum of the API. */
const MAX_ITEMS = 25

/** User feedback about events of this issue. */
export function FeedbackCard({ issue }: { issue: IssueDetail }) {
  const { feedback, event } = issue
  if (feedback.length === 0) return null
  return (
    <Card
      title={fileTexts.feedback}
      titleId="h-feedback"
      header={
        <>
          <Minor>{fileTexts.feedbackCount(feedback.length, MAX_ITEMS)}</Minor>
          <Link {...paths.feedback({ view: 'all', issue: issue.id })} className={typeStyles.link}>
            {fileTexts.openInbox}
          </Link>
        </>
      }
    >
      <ul className={styles.fbs}>
        {feedback.map((item) => (
          <FeedbackItem key={item.id} item={item} isOfEvent={item.event_id === event?.event_id} />
        ))}
      </ul>
    </Card>
  )
}

function FeedbackItem({ item, isOfEvent }: { item: IssueDetail['feedback'][number]; isOfEvent: boolean }) {
  const href = item.url === null ? null : safeUrl(item.url)
  return (
    <li className={issueStyles.fb}>
      <p className={styles.fbH}>
        <Icon name="chat" className={typeStyles.quiet} />
        <b>{item.name ?? item.email ?? fileTexts.anonymous}</b>
        {item.name === null || item.email === null ? null : <Minor>{item.email}</Minor>}
        <Minor>
          <Time at={item.received_at} as="since" />
        </Minor>
        {item.issue_id === null ? null : (
          <Link
            {...paths.feedback({ view: 'all', issue: item.issue_id, id: item.id })}
            className={typeStyles.link}
            aria-label={fileTexts.answerOf(item.name ?? item.email ?? fileTexts.anonymous)}
          >
            {fileTexts.answer}
          </Link>
        )}
        {isOfEvent ? <Minor>{fileTexts.onThisEvent}</Minor> : null}
      </p>
      <p className={styles.fbM}>
        <LongText text={item.message} maxLength={MAX_COLLAPSED} />
      </p>
      {item.url === null ? null : (
        <Minor as="p" className={styles.fbU}>
          {href === null ? (
            item.url
          ) : (
            <a className={typeStyles.link} href={href} rel="noopener noreferrer" target="_blank">
              {item.url}
            </a>
          )}
        </Minor>
      )}
      {item.attachments.length === 0 ? null : <Files files={item.attachments} projectId={item.project_id} />}
    </li>
  )
}
