import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useRef, useState, type KeyboardEvent } from 'react'
import { call } from '../api/call.ts'
import { useChange } from '../api/change.ts'
import { commentsQuery, type Comment } from '../api/issue-queries.ts'
import { meQuery } from '../api/queries.ts'
import { can, useCan } from '../can.ts'
import { useKeys } from '../keys.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { formatCount } from '../ui/format.ts'
import { Kbd } from '../ui/kbd.tsx'
import { Menu } from '../ui/menu.tsx'
import { Time } from '../ui/time.tsx'
import { Avatar } from '../ui/tiles.tsx'
import { issue as words } from '../words/issue.ts'

const Markdown = lazy(() => import('./comments-markdown.tsx').then((module) => ({ default: module.Markdown })))

const touches = (issueId: string) => [commentsQuery(issueId).queryKey, ['issues', 'detail', issueId]]

/** What somebody wrote. Markdown is loaded with the first comment; until then its source stands there. */
export function CommentItem({ comment }: { comment: Comment }) {
  const me = useQuery(meQuery).data?.user
  const [asking, setAsking] = useState(false)
  const remove = useChange<Comment, void>({
    send: async ({ id, issue_id }) => {
      await call('DELETE /api/issues/:issueId/comments/:commentId', { params: { issueId: issue_id, commentId: id } })
    },
    touches: ({ issue_id }) => touches(issue_id),
    guess: (client, { id, issue_id }) =>
      client.setQueryData(commentsQuery(issue_id).queryKey, (page) =>
        page === undefined ? page : { ...page, items: page.items.filter((other) => other.id !== id) },
      ),
    said: () => words.commentDeleted,
    failed: words.commentDeleteFailed,
  })
  const own = me !== undefined && comment.author?.id === me.id
  const mayDelete = me !== undefined && (own || can(me.role, 'comment.delete-any').allowed)
  return (
    <article className="comment">
      <Avatar person={comment.author} quiet />
      <div className="comment-c">
        <header>
          <b>{comment.author?.name ?? words.formerMember}</b>
          <Time at={comment.created_at} />
          {mayDelete ? (
            <Menu
              label={words.commentActions}
              align="end"
              entries={[
                {
                  label: words.deleteComment,
                  icon: 'trash',
                  letter: 'd',
                  danger: true,
                  onSelect: () => setAsking(true),
                },
              ]}
              trigger={<IconButton look="ghost" size="sm" icon="more" label={words.commentActions} />}
            />
          ) : null}
        </header>
        <Suspense fallback={<p>{comment.body}</p>}>
          <Markdown text={comment.body} />
        </Suspense>
      </div>
      <Dialog open={asking} title={words.deleteCommentTitle} onClose={() => setAsking(false)}>
        <p>{words.deleteCommentText}</p>
        <p className="rowk end">
          <Button data-autofocus onClick={() => setAsking(false)}>
            {words.cancel}
          </Button>
          <Button
            look="danger"
            onClick={() => {
              setAsking(false)
              remove.mutate(comment)
            }}
          >
            {words.delete}
          </Button>
        </p>
      </Dialog>
    </article>
  )
}

const MOST = 10_000

/** The field below the activity. What was typed survives a refusal. */
export function CommentForm({ issueId }: { issueId: string }) {
  const me = useQuery(meQuery).data?.user
  const allowed = useCan('issue.comment')
  const [text, setText] = useState('')
  const field = useRef<HTMLTextAreaElement>(null)
  useKeys([{ keys: 'c', label: words.keys.comment, group: 'Issue', run: () => field.current?.focus() }])
  const send = useChange<string, Comment>({
    send: (body) => call('POST /api/issues/:issueId/comments', { params: { issueId }, body: { body } }),
    touches: () => touches(issueId),
    settle: (client, comment) => {
      setText('')
      client.setQueryData(commentsQuery(issueId).queryKey, (page) =>
        page === undefined ? page : { ...page, items: [...page.items, comment], total: page.total + 1 },
      )
    },
    failed: words.commentFailed,
  })
  const tooLong = text.length > MOST
  const submit = () => {
    if (text.trim() !== '' && !tooLong && !send.isPending && allowed.allowed) send.mutate(text)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      submit()
    }
    if (event.key === 'Escape') event.currentTarget.blur()
  }
  return (
    <div className="comment write">
      <Avatar person={me ?? null} quiet />
      <div className="comment-c">
        <textarea
          ref={field}
          rows={2}
          value={text}
          placeholder={words.writeComment}
          aria-label={words.comment}
          disabled={!allowed.allowed}
          title={allowed.why}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <div className="write-f">
          <span className={tooLong ? 'sub c-red' : 'sub'} role="status">
            {tooLong ? words.tooLong(formatCount(MOST)) : words.markdown}
          </span>
          <span className="sp" />
          <Button look="primary" why={allowed.why} busy={send.isPending} onClick={submit}>
            {words.send} <Kbd keys="mod+enter" />
          </Button>
        </div>
      </div>
    </div>
  )
}
