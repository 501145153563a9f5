import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId, useRef, useState } from 'react'
import { paths } from '../../../address/paths.ts'
import { useChange } from '../../../api/change.ts'
import { addNote, changeFeedback, type FeedbackDetail, messageQuery, sendReply } from '../../../api/feedback-queries.ts'
import { meQuery } from '../../../api/queries.ts'
import { useCan } from '../../../app/can.ts'
import { useKeys } from '../../../app/keys.ts'
import { Avatar } from '../../../ui/avatar.tsx'
import { Button } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import choiceStyles from '../../../ui/choice.module.css'
import stackStyles from '../../../ui/stack.module.css'
import fitStyles from '../../../ui/fit.module.css'
import { Segmented } from '../../../ui/segmented.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import typeStyles from '../../../ui/type.module.css'
import { feedbackTexts as texts } from './texts.ts'
import styles from './conversation.module.css'

/** The history of a message, and the field for a reply or a note. */
export function Conversation({ message }: { message: FeedbackDetail }) {
  return (
    <section className={styles.conversation} aria-label={texts.activity}>
      <ol className={fitStyles.loose}>
        <li className={classNames(fitStyles.breaks, typeStyles.soft, typeStyles.links)}>
          {message.linked === null ? (
            texts.received
          ) : (
            <>
              {texts.receivedLinked}{' '}
              <Link {...paths.issue(message.linked.issue.id)}>{message.linked.issue.short_id}</Link>
            </>
          )}{' '}
          <Minor>
            <Time at={message.received_at} as="moment" />
          </Minor>
        </li>
        {message.activity.map((entry) => (
          <Entry key={entry.id} entry={entry} />
        ))}
      </ol>
      <Writer message={message} />
    </section>
  )
}

type EntryProps = { entry: FeedbackDetail['activity'][number] }

function Entry({ entry }: EntryProps) {
  const isOurs = entry.kind === 'notified' || entry.kind === 'not_notified'
  return (
    <li className={classNames(fitStyles.breaks, typeStyles.soft, typeStyles.strongNames)}>
      <b>{entry.actor?.name ?? (isOurs ? texts.faultline : texts.someone)}</b> {sentenceOf(entry)}{' '}
      <Minor>
        <Time at={entry.created_at} as="moment" />
      </Minor>
      {entry.body === null ? null : (
        <p className={styles.text} dir="auto">
          {entry.body}
        </p>
      )}
    </li>
  )
}

function sentenceOf({ kind, to, reason }: EntryProps['entry']): string {
  const { did } = texts
  switch (kind) {
    case 'status_changed':
      return did.status(to)
    case 'assigned':
      return did.assigned(to)
    case 'notified':
      return did.notified(to)
    case 'not_notified':
      return `${did.notNotified} ${reason ?? ''}`
    case 'note':
      return did.note
    case 'reply':
      return did.reply(to)
  }
}

type Written = { readonly kind: 'reply' | 'note'; readonly body: string; readonly notifies: boolean }

function Writer({ message }: { message: FeedbackDetail }) {
  const { id, reply_to: address, reply_problem: problem, linked } = message
  const me = useQuery(meQuery).data?.user
  const may = useCan('issues.write')
  const canReply = address !== null && message.status !== 'spam'
  const [wanted, setWanted] = useState<'reply' | 'note'>('reply')
  const [body, setBody] = useState('')
  const canNotify = canReply && linked !== null && linked.issue.status !== 'resolved' && message.notified_at === null
  const [notifies, setNotifies] = useState(true)
  const kind = canReply ? wanted : 'note'
  const field = useRef<HTMLTextAreaElement>(null)
  const checkboxId = useId()
  useKeys([{ keys: 'c', label: texts.reply, group: 'Page', run: () => field.current?.focus() }])
  const write = useChange({
    send: (written: Written) =>
      written.kind === 'note'
        ? addNote(id, written.body)
        : sendReply(id, {
            body: written.body,
            to: address ?? '',
            last_reply_id: message.last_reply_id,
            ...(written.notifies ? { notify_on_resolved: true } : {}),
          }),
    same: (written) => JSON.stringify(written),
    touches: () => [['feedback']],
    settle: (client, answer) => {
      client.setQueryData(messageQuery(id).queryKey, answer)
      setBody('')
    },
    said: (_answer, written) => (written.kind === 'note' ? texts.noted : texts.sent(address ?? '')),
    failed: kind === 'note' ? texts.notNoted : texts.notSent,
  })
  const isEmpty = body.trim() === ''
  const send = () => {
    if (!isEmpty && may.allowed && !write.isPending)
      write.mutate({ kind, body, notifies: kind === 'reply' && canNotify && notifies && !message.notify_on_resolved })
  }
  const label = kind === 'reply' && address !== null ? texts.replyTo(address) : texts.note
  return (
    <div className={styles.writer}>
      <Avatar user={me ?? null} small quiet />
      <div className={classNames(styles.box, choiceStyles.framed)}>
        <textarea
          ref={field}
          rows={3}
          aria-label={label}
          placeholder={kind === 'reply' && address !== null ? texts.writeReply(address) : texts.writeNote}
          maxLength={10_000}
          readOnly={!may.allowed}
          value={body}
          onChange={(event) => setBody(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
            event.preventDefault()
            send()
          }}
        />
        {canReply ? null : <Minor as="p">{problem === null ? texts.inSpam : texts.noReply[problem]}</Minor>}
        {message.notify_on_resolved && linked !== null && address !== null && message.notified_at === null ? (
          <Minor as="p" className={fitStyles.wrapsCentred}>
            {texts.willNotify(address, linked.issue.short_id)} <StopNotice id={id} why={may.why} />
          </Minor>
        ) : null}
        <div className={stackStyles.toolbar}>
          {canReply ? (
            <Segmented
              label={texts.kind}
              size="sm"
              value={kind}
              options={[
                { value: 'reply', label: texts.byMail },
                { value: 'note', label: texts.note },
              ]}
              onChange={setWanted}
            />
          ) : null}
          {kind === 'reply' && canNotify && !message.notify_on_resolved ? (
            <label htmlFor={checkboxId} className={styles.notify}>
              <input
                id={checkboxId}
                type="checkbox"
                checked={notifies}
                onChange={(event) => setNotifies(event.target.checked)}
              />
              <span>{texts.notify(linked.issue.short_id)}</span>
            </label>
          ) : null}
          <Button
            size="sm"
            look="primary"
            className={fitStyles.atEnd}
            keys="mod+enter"
            busy={write.isPending}
            why={may.why}
            aria-disabled={isEmpty ? true : undefined}
            onClick={send}
          >
            {kind === 'reply' ? texts.send : texts.save}
          </Button>
        </div>
      </div>
    </div>
  )
}

function StopNotice({ id, why }: { id: string; why: string | undefined }) {
  const change = useChange({
    send: () => changeFeedback(id, { notify_on_resolved: false }),
    touches: () => [['feedback']],
    settle: (client, answer) => client.setQueryData(messageQuery(id).queryKey, answer),
    failed: texts.notChanged,
  })
  return (
    <Button size="sm" look="ghost" why={why} busy={change.isPending} onClick={() => change.mutate(undefined)}>
      {texts.stopNotice}
    </Button>
  )
}
