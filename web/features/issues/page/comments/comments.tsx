import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { call } from '../../../../api/call.ts'
import { useChange } from '../../../../api/change.ts'
import { commentsQuery } from '../../../../api/comment-queries.ts'
import type { Comment } from '../../../../api/issue-queries.ts'
import { subscriptionQuery } from '../../../../api/member-queries.ts'
import { meQuery } from '../../../../api/queries.ts'
import { can, useCan } from '../../../../app/can.ts'
import { readCommentDraft, keepDraft, unsent } from './drafts.ts'
import { useKeys } from '../../../../app/keys.ts'
import { Button, IconButton } from '../../../../ui/button.tsx'
import { Dialog } from '../../../../ui/dialog.tsx'
import { formatCount } from '../../../../ui/format.ts'
import { Kbd } from '../../../../ui/kbd.tsx'
import { Menu } from '../../../../ui/menu.tsx'
import { Spacer, Toolbar } from '../../../../ui/stack.tsx'
import { Minor } from '../../../../ui/text.tsx'
import { Time } from '../../../../ui/time.tsx'
import { Avatar } from '../../../../ui/avatar.tsx'
import { issueTexts } from '../texts.ts'
import { commentsTexts } from './texts.ts'
import { MentionField } from './mention-field.tsx'
import issueStyles from '../issue.module.css'
import styles from './comments.module.css'

const Markdown = lazy(() =>
  import('../../../../subjects/markdown/markdown.tsx').then((module) => ({ default: module.Markdown })),
)

const touches = (issueId: string) => [commentsQuery(issueId).queryKey, ['issues', 'detail', issueId]]

/** A comment. Its source is shown until the code for Markdown is loaded. */
export function CommentItem({ comment }: { comment: Comment }) {
  const me = useQuery(meQuery).data?.user
  const [asking, setAsking] = useState(false)
  const [editing, setEditing] = useState(false)
  const remove = useChange<Comment, void>({
    send: async ({ id, issue_id }) => {
      await call('DELETE /api/issues/:issueId/comments/:commentId', { params: { issueId: issue_id, commentId: id } })
    },
    touches: ({ issue_id }) => touches(issue_id),
    guess: (client, { id, issue_id }) =>
      client.setQueryData(commentsQuery(issue_id).queryKey, (page) =>
        page === undefined ? page : { ...page, items: page.items.filter((other) => other.id !== id) },
      ),
    said: () => issueTexts.commentDeleted,
    failed: issueTexts.commentDeleteFailed,
  })
  const own = me !== undefined && comment.author?.id === me.id
  const mayDelete = me !== undefined && (own || can(me.role, 'issues.admin').allowed)
  const mayEdit = own && can(me.role, 'issues.write').allowed
  return (
    <article className={issueStyles.comment}>
      <Avatar user={comment.author} quiet />
      <div className={issueStyles.commentC}>
        <header>
          <b>{comment.author?.name ?? issueTexts.formerMember}</b>
          <Time at={comment.created_at} />
          {comment.edited_at === null ? null : <Minor>{commentsTexts.edited}</Minor>}
          {mayDelete ? (
            <Menu
              label={issueTexts.commentActions}
              align="end"
              entries={[
                ...(mayEdit
                  ? [
                      {
                        label: commentsTexts.edit,
                        icon: 'pencil' as const,
                        letter: 'e',
                        onSelect: () => setEditing(true),
                      },
                    ]
                  : []),
                {
                  label: issueTexts.deleteComment,
                  icon: 'trash',
                  letter: 'd',
                  danger: true,
                  onSelect: () => setAsking(true),
                },
              ]}
              trigger={<IconButton look="ghost" size="sm" icon="more" label={issueTexts.commentActions} />}
            />
          ) : null}
        </header>
        {editing ? (
          <CommentEdit comment={comment} onDone={() => setEditing(false)} />
        ) : (
          <Suspense fallback={<p>{comment.body}</p>}>
            <Markdown text={comment.body} mentions={comment.mentions} />
          </Suspense>
        )}
      </div>
      <Dialog open={asking} title={issueTexts.deleteCommentTitle} onClose={() => setAsking(false)}>
        <p>{issueTexts.deleteCommentText}</p>
        <Toolbar align="end">
          <Button data-autofocus onClick={() => setAsking(false)}>
            {issueTexts.cancel}
          </Button>
          <Button
            look="danger"
            onClick={() => {
              setAsking(false)
              remove.mutate(comment)
            }}
          >
            {issueTexts.delete}
          </Button>
        </Toolbar>
      </Dialog>
    </article>
  )
}

const MOST = 10_000
/** The number of characters as the server counts them: an emoji is one. */
const isTooLong = (text: string): boolean => text.length > MOST && Array.from(text).length > MOST

/** The comment field below the activity. It keeps the text after an error. */
export function CommentForm({ issueId }: { issueId: string }) {
  const me = useQuery(meQuery).data?.user
  const allowed = useCan('issues.write')
  const [text, setText] = useState(readCommentDraft(me?.id, issueId))
  const field = useRef<HTMLTextAreaElement>(null)
  const write = (next: string) => {
    setText(next)
    keepDraft(me?.id, issueId, next)
  }
  useKeys([{ keys: 'c', label: issueTexts.keys.comment, group: 'Issue', run: () => field.current?.focus() }])
  const send = useChange<string, Comment>({
    send: (body) => call('POST /api/issues/:issueId/comments', { params: { issueId }, body: { body } }),
    touches: () => [...touches(issueId), subscriptionQuery(issueId).queryKey],
    settle: (client, comment, sent) => {
      // The user may type more while the comment is being sent.
      setText((now) => unsent(now, sent))
      keepDraft(me?.id, issueId, unsent(readCommentDraft(me?.id, issueId), sent))
      client.setQueryData(commentsQuery(issueId).queryKey, (page) =>
        // The live stream may have delivered it already.
        page === undefined || page.items.some(({ id }) => id === comment.id)
          ? page
          : { ...page, items: [...page.items, comment], total: page.total + 1 },
      )
    },
    failed: issueTexts.commentFailed,
  })
  const tooLong = isTooLong(text)
  const submit = () => {
    if (text.trim() !== '' && !tooLong && !send.isPending && allowed.allowed) send.mutate(text)
  }
  return (
    <div className={`${issueStyles.comment} ${issueStyles.write}`}>
      <Avatar user={me ?? null} quiet />
      <div className={issueStyles.commentC}>
        <MentionField
          field={field}
          value={text}
          label={issueTexts.comment}
          placeholder={issueTexts.writeComment}
          disabled={!allowed.allowed}
          title={allowed.why}
          onChange={write}
          onSubmit={submit}
        />
        <div className={styles.writeF}>
          <Minor bad={tooLong} role="status">
            {tooLong ? issueTexts.tooLong(formatCount(MOST)) : issueTexts.markdown}
          </Minor>
          <Spacer />
          <Button look="primary" why={allowed.why} busy={send.isPending} onClick={submit}>
            {issueTexts.send} <Kbd keys="mod+enter" />
          </Button>
        </div>
      </div>
    </div>
  )
}

/** A comment that its author is editing. */
function CommentEdit({ comment, onDone }: { comment: Comment; onDone: () => void }) {
  const [text, setText] = useState(comment.body)
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    field.current?.focus()
    field.current?.setSelectionRange(field.current.value.length, field.current.value.length)
  }, [])
  const save = useChange<string, Comment>({
    send: (body) =>
      call('PATCH /api/issues/:issueId/comments/:commentId', {
        params: { issueId: comment.issue_id, commentId: comment.id },
        body: { body },
      }),
    touches: () => [commentsQuery(comment.issue_id).queryKey],
    settle: (client, saved) => {
      client.setQueryData(commentsQuery(comment.issue_id).queryKey, (page) =>
        page === undefined
          ? page
          : { ...page, items: page.items.map((other) => (other.id === saved.id ? saved : other)) },
      )
      onDone()
    },
    failed: commentsTexts.editFailed,
  })
  const tooLong = isTooLong(text)
  const submit = () => {
    if (text === comment.body) onDone()
    else if (text.trim() !== '' && !tooLong && !save.isPending) save.mutate(text)
  }
  return (
    <div>
      <MentionField
        field={field}
        rows={3}
        value={text}
        label={commentsTexts.editField}
        onChange={setText}
        onSubmit={submit}
        onCancel={onDone}
      />
      <div className={styles.writeF}>
        <Minor bad role="status">
          {tooLong ? issueTexts.tooLong(formatCount(MOST)) : ''}
        </Minor>
        <Spacer />
        <Button size="sm" onClick={onDone}>
          {issueTexts.cancel}
        </Button>
        <Button size="sm" look="primary" busy={save.isPending} onClick={submit}>
          {commentsTexts.saveEdit} <Kbd keys="mod+enter" />
        </Button>
      </div>
    </div>
  )
}
