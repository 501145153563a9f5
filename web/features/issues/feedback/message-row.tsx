import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import type { FeedbackSearch } from '../../../address/search.ts'
import type { InboxMessage } from '../../../api/feedback-queries.ts'
import { projectsQuery } from '../../../api/queries.ts'
import { Avatar } from '../../../ui/avatar.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { PlatformTile } from '../../../ui/platform-tile.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import typeStyles from '../../../ui/type.module.css'
import { splitMessage } from './model.ts'
import { feedbackTexts as texts } from './texts.ts'
import styles from './message-row.module.css'

type MessageRowProps = { message: InboxMessage; search: FeedbackSearch; isShown: boolean }

/** A message in the list: its first sentence, the rest, where it is from, and who has it. */
export function MessageRow({ message, search, isShown }: MessageRowProps) {
  const project = useQuery(projectsQuery).data?.items.find(({ id }) => id === message.project_id)
  const { title, rest } = splitMessage(message.message)
  const isUnread = !message.is_read && message.status === 'open'
  const { attachments } = message
  return (
    <li
      className={classNames(styles.row, choiceStyles.row, choiceStyles.selectable)}
      data-selected={isShown ? '' : undefined}
      data-unread={isUnread ? '' : undefined}
    >
      <Link
        {...paths.feedback({ ...search, id: message.id })}
        className={classNames(styles.title, fitStyles.ellipsis, isUnread ? typeStyles.headNames : typeStyles.soft)}
        data-message={message.id}
        aria-current={isShown ? 'true' : undefined}
      >
        {isUnread ? <span className={typeStyles.hidden}>{texts.unread}</span> : null}
        <bdi>{isUnread ? <b>{title}</b> : title}</bdi>
      </Link>
      <Minor>
        <Time at={message.received_at} as="age" />
      </Minor>
      <p className={classNames(styles.rest, fitStyles.ellipsis)}>
        <bdi>{rest === '' ? (message.name ?? message.email ?? texts.anonymous) : rest}</bdi>
      </p>
      <Minor className={styles.meta}>
        {project === undefined ? null : (
          <>
            <PlatformTile platform={project.platform} quiet />
            <span className={fitStyles.ellipsis}>{project.name}</span>
          </>
        )}
        {message.issue === null ? null : <span className={styles.chip}>{message.issue.short_id}</span>}
        {attachments.length === 0 ? null : (
          <span className={styles.chip}>
            {attachments.some((file) => file.is_image) ? texts.screenshot : texts.file(attachments.length)}
          </span>
        )}
        {message.reply_count === 0 ? null : <span className={styles.chip}>{texts.replied}</span>}
      </Minor>
      <Avatar user={message.assignee} small />
    </li>
  )
}
