import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useState } from 'react'
import { paths } from '../../../address/paths.ts'
import type { FeedbackSearch } from '../../../address/search.ts'
import { fileUrl } from '../../../api/files.ts'
import { useChange } from '../../../api/change.ts'
import {
  changeFeedback,
  type FeedbackChange,
  type FeedbackDetail,
  type InboxFilter,
  inboxQuery,
  messageQuery,
} from '../../../api/feedback-queries.ts'
import { projectsQuery } from '../../../api/queries.ts'
import { useCan } from '../../../app/can.ts'
import { download } from '../../../app/download.ts'
import { useKeys } from '../../../app/keys.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { AssigneePicker } from '../../../subjects/issue/assignee-picker.tsx'
import { splitTitle } from '../../../subjects/issue/headline.ts'
import { Avatar } from '../../../ui/avatar.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { EmptyState } from '../../../ui/empty-state.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { counted, formatDuration, formatSize } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import { KeyValues } from '../../../ui/key-values.tsx'
import { Popover } from '../../../ui/popover.tsx'
import { Severity, Status } from '../../../ui/status.tsx'
import { Minor, ShortId } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import typeStyles from '../../../ui/type.module.css'
import { Conversation } from './conversation.tsx'
import { feedbackTexts as texts } from './texts.ts'
import styles from './message-detail.module.css'

type MessageDetailProps = {
  id: string
  /** The address names it: it counts as read. */
  isChosen: boolean
  search: FeedbackSearch
  /** Shows the message that follows in the list. */
  onLeave: () => void
}

/** A message with its context, its issue, what was done, and an answer. */
export function MessageDetail({ id, isChosen, search, onLeave }: MessageDetailProps) {
  const message = useQuery(messageQuery(id))
  return (
    <PageQuery
      query={message}
      what={texts.title}
      missing={
        <EmptyState kind="missing" title={texts.missing}>
          {texts.missingText}
        </EmptyState>
      }
    >
      {(data) => <Detail message={data} isChosen={isChosen} search={search} onLeave={onLeave} />}
    </PageQuery>
  )
}

type DetailProps = Omit<MessageDetailProps, 'id'> & { message: FeedbackDetail }

function Detail({ message, isChosen, search, onLeave }: DetailProps) {
  useMarkAsRead(message, isChosen)
  const { name, email } = message
  const author = name ?? email ?? texts.anonymous
  return (
    <Card
      as="section"
      className={fitStyles.detail}
      title={<bdi>{texts.from(author)}</bdi>}
      header={<Actions message={message} search={search} onLeave={onLeave} />}
    >
      <p className={styles.back}>
        <Link {...paths.feedback({ ...search, id: undefined })} className={typeStyles.link}>
          {texts.back}
        </Link>
      </p>
      <div className={styles.body}>
        <p className={styles.message} dir="auto">
          {message.message}
        </p>
        <p className={classNames(fitStyles.breaks, typeStyles.soft)}>
          {name === null ? null : <bdi className={typeStyles.strong}>{name} </bdi>}
          {email === null ? null : <bdi>{email} </bdi>}
          <Minor>
            {texts.through(message.source)} <Time at={message.received_at} as="moment" />
          </Minor>
        </p>
        <Context message={message} />
        <FileList message={message} />
        <LinkedIssue message={message} search={search} />
      </div>
      <Conversation key={message.id} message={message} />
    </Card>
  )
}

/** A message that a member opened is read, for everyone. */
function useMarkAsRead({ id, is_read: isRead }: FeedbackDetail, isChosen: boolean) {
  const client = useQueryClient()
  const may = useCan('issues.write').allowed
  const mark = useEffectEvent(async () => {
    try {
      client.setQueryData(messageQuery(id).queryKey, await changeFeedback(id, { is_read: true }))
      await client.invalidateQueries({ queryKey: ['feedback', 'list'] })
    } catch {
      // It stays unread: nothing that the reader needs to hear of.
    }
  })
  const isDue = isChosen && may && !isRead
  useEffect(() => {
    if (isDue) void mark()
  }, [id, isDue])
}

type Edit = { readonly change: FeedbackChange; readonly back: FeedbackChange; readonly said: string }

function Actions({ message, search, onLeave }: Pick<DetailProps, 'message' | 'search' | 'onLeave'>) {
  const [isAssigning, setAssigning] = useState(false)
  const may = useCan('issues.write')
  const { id, status, assignee } = message
  const edit = useChange({
    send: ({ change }: Edit) => changeFeedback(id, change),
    same: ({ change }) => JSON.stringify(change),
    touches: () => [['feedback']],
    guess: (client, { change }) => {
      const next = change.status
      client.setQueryData(messageQuery(id).queryKey, (data) =>
        data === undefined || next === undefined ? data : { ...data, status: next },
      )
      if (next !== undefined && search.view !== 'all') takeFromList(client, search, id)
    },
    settle: (client, answer) => client.setQueryData(messageQuery(id).queryKey, answer),
    said: (_answer, { said }) => said,
    undo: ({ back }) => changeFeedback(id, back),
    failed: texts.notChanged,
  })
  const move = (to: FeedbackDetail['status']) => {
    edit.mutate({ change: { status: to }, back: { status }, said: texts.moved[to] })
    if (search.view !== 'all') onLeave()
  }
  const resolve = () => move(status === 'resolved' ? 'open' : 'resolved')
  const spam = () => move(status === 'spam' ? 'open' : 'spam')
  const resolveLabel = status === 'resolved' ? texts.reopen : texts.resolve
  const spamLabel = status === 'spam' ? texts.notSpam : texts.spam
  useKeys(
    may.allowed
      ? [
          ...(status === 'spam' ? [] : [{ keys: 'r', label: resolveLabel, group: 'Page' as const, run: resolve }]),
          { keys: 'a', label: texts.assign, group: 'Page', run: () => setAssigning(true) },
          { keys: 'u', label: spamLabel, group: 'Page', run: spam },
        ]
      : [],
  )
  const keys = (key: string) => (may.allowed ? key : undefined)
  return (
    <span className={classNames(fitStyles.wraps, fitStyles.atEnd)}>
      {status === 'spam' ? null : (
        <Button
          size="sm"
          look={status === 'open' ? 'primary' : 'plain'}
          icon={status === 'open' ? 'check' : undefined}
          keys={keys('r')}
          why={may.why}
          onClick={resolve}
        >
          {resolveLabel}
        </Button>
      )}
      <Popover
        label={texts.assign}
        align="end"
        open={isAssigning}
        onOpenChange={(open) => setAssigning(open && may.allowed)}
        trigger={
          <Button size="sm" keys={keys('a')} why={may.why} className={fitStyles.narrowButton}>
            <Avatar user={assignee} small quiet /> {assignee?.name ?? texts.assign}
          </Button>
        }
      >
        <AssigneePicker
          assigneeId={assignee?.id ?? null}
          onChoose={(chosen) => {
            setAssigning(false)
            edit.mutate({
              change: { assignee_id: chosen?.id ?? null },
              back: { assignee_id: assignee?.id ?? null },
              said: texts.assigned(chosen?.name ?? null),
            })
          }}
        />
      </Popover>
      <Button size="sm" keys={keys('u')} why={may.why} onClick={spam}>
        {spamLabel}
      </Button>
    </span>
  )
}

function takeFromList(client: ReturnType<typeof useQueryClient>, { project, view, q, issue }: InboxFilter, id: string) {
  client.setQueryData(inboxQuery({ project, view, q, issue }).queryKey, (data) =>
    data === undefined
      ? data
      : {
          ...data,
          pages: data.pages.map((page) => ({ ...page, items: page.items.filter((one) => one.id !== id) })),
        },
  )
}

/** Texts that an app sent; none of them is a link, and nothing is loaded. */
function Context({ message }: { message: FeedbackDetail }) {
  const project = useQuery(projectsQuery).data?.items.find(({ id }) => id === message.project_id)
  const { context, linked, kept_trace_id: trace } = message
  const { fields } = texts
  const place = [project?.name, message.environment].filter((part) => part != null && part !== '').join(', ')
  const rows: readonly (readonly [string, string | null])[] = [
    [fields.url, message.url],
    [fields.view, context.view],
    [fields.project, place === '' ? null : place],
    [fields.release, message.release],
    [fields.browser, context.browser],
    [fields.os, context.os],
    [fields.device, context.device],
    [fields.language, context.language],
    [fields.user, context.user],
    [fields.replay, message.replay_id],
  ]
  return (
    <section aria-label={texts.context}>
      <KeyValues>
        {rows.map(([name, value]) =>
          value === null ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <bdi>{value}</bdi>
              </dd>
            </div>
          ),
        )}
        {message.event_id === null ? null : (
          <div>
            <dt>{fields.event}</dt>
            <dd className={typeStyles.links}>
              {linked?.event_at == null ? (
                message.event_id.slice(0, 8)
              ) : (
                <Link {...paths.issue(linked.issue.id, { event: message.event_id })}>
                  {message.event_id.slice(0, 8)}
                </Link>
              )}
            </dd>
          </div>
        )}
        {trace === null ? null : (
          <div>
            <dt>{fields.trace}</dt>
            <dd className={typeStyles.links}>
              <Link {...paths.trace(trace)}>{trace.slice(0, 8)}</Link>
            </dd>
          </div>
        )}
      </KeyValues>
    </section>
  )
}

/** Files are loaded only when they are asked for, and saved instead of shown. */
function FileList({ message: { attachments, project_id: projectId } }: { message: FeedbackDetail }) {
  if (attachments.length === 0) return null
  return (
    <ul aria-label={texts.files} className={fitStyles.wrapsCentred}>
      {attachments.map(({ id, filename, size_bytes: size }) => {
        const url = fileUrl(projectId, id)
        return (
          <li key={id} className={typeStyles.links}>
            <a
              href={url}
              download={filename}
              onClick={(event) => void download(event, { url, filename, failed: texts.downloadFailed })}
            >
              <Icon name="download" /> {filename}
            </a>{' '}
            <Minor>{formatSize(size)}</Minor>
          </li>
        )
      })}
    </ul>
  )
}

function LinkedIssue({ message, search }: { message: FeedbackDetail; search: FeedbackSearch }) {
  const { linked } = message
  if (linked === null) return null
  const { issue, event_at: eventAt, others } = linked
  const { name, rest } = splitTitle(issue)
  const beforeMs = eventAt === null ? null : Date.parse(message.received_at) - Date.parse(eventAt)
  const { project } = search
  return (
    <section aria-label={texts.linkedIssue} className={fitStyles.tight}>
      <div className={styles.issue}>
        <Severity severity={issue.severity} word={false} />
        <div className={fitStyles.shrinks}>
          <Link
            {...paths.issue(issue.id, {
              project,
              event: eventAt === null ? undefined : (message.event_id ?? undefined),
            })}
            className={classNames(fitStyles.ellipsis, fitStyles.block, choiceStyles.underlines)}
          >
            <b>{name}</b> {rest}
          </Link>
          <Minor as="p">
            <ShortId>{issue.short_id}</ShortId>{' '}
            {texts.linked(counted(issue.event_count, 'event', 'events'), counted(issue.user_count, 'user', 'users'))}{' '}
            <Time at={issue.last_seen} as="since" />
          </Minor>
        </div>
        <Status status={issue.status} />
      </div>
      <Minor as="p" className={typeStyles.links}>
        {beforeMs === null || beforeMs < 0 ? texts.because : texts.becauseAt(formatDuration(beforeMs))}{' '}
        {others === 0 ? null : (
          <>
            {texts.others(others)}{' '}
            <Link {...paths.feedback({ project, view: 'all', issue: issue.id })}>{texts.showThem}</Link>
          </>
        )}
      </Minor>
    </section>
  )
}
