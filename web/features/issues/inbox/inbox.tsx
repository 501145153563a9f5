import { serviceNow } from '../../../ui/clock.ts'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { inboxQuery, type InboxEntry } from '../../../api/member-queries.ts'
import { paths } from '../../../address/paths.ts'
import { Button } from '../../../ui/button.tsx'
import { Icon, type IconName } from '../../../ui/icon.tsx'
import { Minor, ShortId } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { Avatar } from '../../../ui/avatar.tsx'
import { inboxTexts } from './texts.ts'
import { appTexts } from '../../../app/texts.ts'
import { MoreFoot } from '../../../frames/more-button.tsx'
import { PageQuery } from '../../../frames/page-query.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import styles from './inbox.module.css'
import typeStyles from '../../../ui/type.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'

type Marking = { ids: string[] } | { before: string }

const isMarked = (entry: InboxEntry, marking: Marking): boolean =>
  'ids' in marking ? marking.ids.includes(entry.id) : entry.created_at <= marking.before

/** The user's notifications, unread first. Opening one, or the button, marks it as read. */
export function Inbox({ onClose }: { onClose: () => void }) {
  const inbox = useInfiniteQuery(inboxQuery)
  const mark = useChange<Marking, unknown>({
    send: (body) => call('POST /api/inbox/read', { body }),
    touches: () => [inboxQuery.queryKey],
    guess: (client, marking) =>
      client.setQueryData(inboxQuery.queryKey, (before) =>
        before === undefined
          ? before
          : {
              ...before,
              pages: before.pages.map((page) => ({
                ...page,
                unread_count: 'ids' in marking ? Math.max(0, page.unread_count - 1) : 0,
                items: page.items.map((entry) =>
                  isMarked(entry, marking)
                    ? { ...entry, read_at: entry.read_at ?? new Date(serviceNow()).toISOString() }
                    : entry,
                ),
              })),
            },
      ),
    failed: inboxTexts.markFailed,
  })
  const entries = inbox.data?.pages.flatMap((page) => page.items) ?? []
  const unread = inbox.data?.pages[0]?.unread_count ?? 0
  const newest = entries.reduce((last, { created_at: at }) => (at > last ? at : last), '')
  return (
    <section aria-label={inboxTexts.inbox}>
      <header className={styles.head}>
        <h2 className={typeStyles.hidden}>{inboxTexts.inbox}</h2>
        {unread === 0 ? null : (
          <Button size="sm" look="ghost" onClick={() => mark.mutate({ before: newest })}>
            {inboxTexts.markAll}
          </Button>
        )}
      </header>
      <PageQuery
        query={inbox}
        what={inboxTexts.inbox}
        inCard
        waiting={<p className={classNames(styles.none, typeStyles.inkNames)}>{appTexts.loading}</p>}
      >
        {() =>
          entries.length === 0 ? (
            <p className={classNames(styles.none, typeStyles.inkNames)}>
              <b>{inboxTexts.inboxEmpty}</b>
              {inboxTexts.inboxEmptyText}
            </p>
          ) : (
            <ul className={classNames(styles.list, fitStyles.divided)}>
              {entries.map((entry) => (
                <li key={entry.id}>
                  <Entry
                    entry={entry}
                    onOpen={() => {
                      if (entry.read_at === null) mark.mutate({ ids: [entry.id] })
                      onClose()
                    }}
                  />
                </li>
              ))}
            </ul>
          )
        }
      </PageQuery>
      <MoreFoot list={inbox}>{inboxTexts.more}</MoreFoot>
    </section>
  )
}

const LOOKS: Readonly<Record<InboxEntry['kind'], readonly [IconName, string?]>> = {
  assigned: ['user'],
  mentioned: ['chat'],
  commented: ['chat'],
  regressed: ['st-regressed', typeStyles.violet],
  escalated: ['st-escalated', typeStyles.red],
  reopened: ['st-unresolved', typeStyles.blue],
}

function Entry({ entry, onOpen }: { entry: InboxEntry; onOpen: () => void }) {
  const { issue, actor, kind } = entry
  const [icon, colour] = LOOKS[kind]
  const isUnread = entry.read_at === null
  return (
    <Link
      {...paths.issue(issue.id)}
      className={
        isUnread
          ? classNames(styles.entry, choiceStyles.hovers, styles.unread)
          : classNames(styles.entry, choiceStyles.hovers)
      }
      onClick={onOpen}
    >
      {actor === null ? (
        <span className={classNames(styles.icon, colour)}>
          <Icon name={icon} />
        </span>
      ) : (
        <Avatar user={actor} quiet />
      )}
      <span className={fitStyles.lines}>
        <span className={classNames(styles.sentence, typeStyles.soft, fitStyles.breaks)}>
          {isUnread ? <span className={typeStyles.hidden}>{inboxTexts.unread}: </span> : null}
          {entry.sentence}
        </span>
        <Minor className={fitStyles.ellipsis}>
          <ShortId>{issue.short_id}</ShortId> {issue.title}
        </Minor>
      </span>
      <span className={styles.when}>
        <Time at={entry.created_at} as="age" />
        {isUnread ? <span className={styles.dot} aria-hidden="true" /> : null}
      </span>
    </Link>
  )
}
