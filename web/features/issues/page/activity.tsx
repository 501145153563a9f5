import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { issueAlertsQuery, type Alert } from '../../../api/alert-queries.ts'
import { commentsBefore, commentsQuery, joined } from '../../../api/comment-queries.ts'
import type { Comment, IssueDetail } from '../../../api/issue-queries.ts'
import { AlertLine } from './alert-line.tsx'
import { withLocalTimes } from '../../../subjects/issue/local-times.ts'
import { Button } from '../../../ui/button.tsx'
import { Icon, type IconName } from '../../../ui/icon.tsx'
import { Time } from '../../../ui/time.tsx'
import { issueTexts } from './texts.ts'
import { CommentForm, CommentItem } from './comments/comments.tsx'
import { QueryError } from '../../../frames/query-error.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import typeStyles from '../../../ui/type.module.css'
import styles from './activity.module.css'
import issueStyles from './issue.module.css'

type Entry = IssueDetail['activity'][number]
type Row = { at: string; id: string } & ({ entry: Entry } | { comment: Comment } | { alert: Alert })

/** Changes, alerts and comments of the issue, oldest first. */
export function Activity({ issue }: { issue: IssueDetail }) {
  const comments = useQuery(commentsQuery(issue.id))
  const alerts = useQuery(issueAlertsQuery(issue.id))
  const rows: Row[] = [
    // The comment itself is shown.
    ...issue.activity
      .filter((entry) => entry.kind !== 'commented')
      .map((entry) => ({ at: entry.created_at, id: entry.id, entry })),
    ...(alerts.data?.items ?? []).map((alert) => ({ at: alert.fired_at, id: alert.id, alert })),
    ...(comments.data?.items ?? []).map((comment) => ({ at: comment.created_at, id: comment.id, comment })),
  ].toSorted((a, b) => a.at.localeCompare(b.at) || a.id.localeCompare(b.id))
  return (
    <section className={styles.activity} aria-labelledby="h-activity">
      <h2 id="h-activity" tabIndex={-1}>
        {issueTexts.activity}
      </h2>
      <EarlierComments issueId={issue.id} />
      <ol className={classNames(issueStyles.acts, fitStyles.relative)}>
        {rows.map((row) => (
          <li key={row.id} className={fitStyles.relative}>
            {'entry' in row ? (
              <ActivityLine entry={row.entry} />
            ) : 'alert' in row ? (
              <AlertLine alert={row.alert} />
            ) : (
              <CommentItem comment={row.comment} />
            )}
          </li>
        ))}
      </ol>
      {comments.error === null ? null : (
        <QueryError what={issueTexts.comments} error={comments.error} onRetry={() => void comments.refetch()} />
      )}
      {alerts.error === null ? null : (
        <QueryError what={issueTexts.alerts} error={alerts.error} onRetry={() => void alerts.refetch()} />
      )}
      <CommentForm issueId={issue.id} />
    </section>
  )
}

/** A button that loads earlier comments; few issues have so many comments. */
function EarlierComments({ issueId }: { issueId: string }) {
  const client = useQueryClient()
  const { queryKey } = commentsQuery(issueId)
  const { data } = useQuery(commentsQuery(issueId))
  const more = useMutation({
    mutationFn: (earlier: string) => commentsBefore(issueId, earlier),
    onSuccess: (before) =>
      client.setQueryData(queryKey, (after) => (after === undefined ? after : joined(before, after))),
  })
  const earlier = data?.earlier ?? null
  if (data === undefined || earlier === null) return null
  return (
    <p className={styles.actsMore}>
      <Button size="sm" busy={more.isPending} onClick={() => more.mutate(earlier)}>
        {issueTexts.earlierComments(data.total - data.items.length)}
      </Button>
      {more.error === null ? null : (
        <QueryError what={issueTexts.comments} error={more.error} onRetry={() => more.mutate(earlier)} />
      )}
    </p>
  )
}

/** Icon and colour of an entry; a colour only for a status that has one. */
function lookOf({ kind, data }: Entry): readonly [IconName, string | undefined] {
  const to = data.to
  if (kind === 'status_changed') {
    if (to === 'resolved') return ['st-resolved', 'green']
    if (to === 'regressed') return ['st-regressed', 'violet']
    if (to === 'escalated') return ['st-escalated', 'vermilion']
    if (to === 'ignored') return ['st-ignored', undefined]
    return ['st-unresolved', undefined]
  }
  if (kind === 'created') return ['spark', undefined]
  if (kind === 'assigned') return ['user', undefined]
  if (kind === 'severity_changed') return ['sv-high', undefined]
  if (kind === 'comment_deleted') return ['trash', undefined]
  return ['clock', undefined]
}

function ActivityLine({ entry }: { entry: Entry }) {
  const [icon, tone] = lookOf(entry)
  const name = entry.actor?.name ?? ''
  // The sentence is stored; the member's name in it is emphasised.
  const named = name !== '' && entry.sentence.startsWith(name)
  return (
    <div className={classNames(issueStyles.act, typeStyles.links)} data-tone={tone}>
      <span className={classNames(issueStyles.actI, fitStyles.icons13)}>
        <Icon name={icon} />
      </span>
      <div className={classNames(styles.actB, typeStyles.strongNames)}>
        <p>
          {named ? <b>{name}</b> : null}
          {withLocalTimes(named ? entry.sentence.slice(name.length) : entry.sentence).replace(/\.$/u, '')}{' '}
          <Time at={entry.created_at} />
        </p>
      </div>
    </div>
  )
}
