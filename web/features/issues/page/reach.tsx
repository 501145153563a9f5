import { useQuery } from '@tanstack/react-query'
import { issueReleasesQuery, issueUsersQuery } from '../../../api/issue-event-queries.ts'
import type { IssueDetail } from '../../../api/issue-queries.ts'
import { Card } from '../../../ui/card.tsx'
import { formatCount } from '../../../ui/format.ts'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { eventsTexts } from './events/texts.ts'
import { termText } from '#shared/query-terms.ts'
import { wholePercentText } from './shares-model.ts'
import { shortVersion } from '../../../subjects/issue/trend.ts'
import { QueryError } from '../../../frames/query-error.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import styles from './issue.module.css'
import typeStyles from '../../../ui/type.module.css'

const RELEASES = 6

type ReachProps = { issue: Pick<IssueDetail, 'id' | 'user_count'>; onOnly: (only: string) => void }

/** The affected releases with their numbers of events. */
export function ReleasesCard({ issue, onOnly }: ReachProps) {
  const { data, error, refetch } = useQuery(issueReleasesQuery(issue.id))
  if (error !== null) return <QueryError what={eventsTexts.releasesName} error={error} onRetry={() => void refetch()} />
  if (data === undefined || data.items.every(({ release }) => release === null)) return null
  return (
    <Card
      title={eventsTexts.releases}
      header={data.complete ? null : <Minor>{eventsTexts.newest(data.looked_at)}</Minor>}
    >
      <ul className={classNames(styles.reach, fitStyles.inset10)}>
        {data.items.slice(0, RELEASES).map((one) => (
          <li key={one.release ?? ''}>
            <button
              type="button"
              className={styles.tagrow}
              title={one.release ?? undefined}
              onClick={() => onOnly(termText('release', [one.release ?? '']))}
            >
              <span className={classNames(styles.tl, fitStyles.ellipsis)}>
                {one.release === null ? eventsTexts.noRelease : shortVersion(one.release)}
              </span>
              <span className={styles.tb} aria-hidden="true">
                <span style={{ inlineSize: `${one.share * 100}%` }} />
              </span>
              <span
                className={classNames(typeStyles.figures, styles.figure, fitStyles.nowrap)}
                title={formatCount(one.events)}
              >
                {wholePercentText(one.share)}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** The most affected users. */
export function UsersCard({ issue, onOnly }: ReachProps) {
  const { data, error, refetch } = useQuery(issueUsersQuery(issue.id))
  if (error !== null) return <QueryError what={eventsTexts.users} error={error} onRetry={() => void refetch()} />
  if (data === undefined || data.items.length === 0) return null
  return (
    <Card
      title={eventsTexts.users}
      header={
        <Minor>
          {eventsTexts.usersShown(data.items.length, Math.max(issue.user_count, data.total))}
          {data.complete ? null : `, ${eventsTexts.newest(data.looked_at)}`}
        </Minor>
      }
    >
      <ul className={classNames(styles.reach, fitStyles.inset10)}>
        {data.items.map((user) => {
          const { key } = user
          const inner = (
            <>
              <span className={classNames(styles.tl, fitStyles.ellipsis)}>{user.label ?? eventsTexts.anonymous}</span>
              <span className={classNames(typeStyles.figures, styles.figure, fitStyles.nowrap)}>
                {formatCount(user.events)}
              </span>
              <Minor className={styles.age}>
                <Time at={user.last_seen} as="age" />
              </Minor>
            </>
          )
          return (
            <li key={user.last_event_id}>
              {key === null ? (
                <span className={styles.tagrow}>{inner}</span>
              ) : (
                <button
                  type="button"
                  className={styles.tagrow}
                  title={eventsTexts.onlyThese(user.label ?? key)}
                  onClick={() => onOnly(termText('user.id', [key]))}
                >
                  {inner}
                </button>
              )}
            </li>
          )
        })}
      </ul>
    </Card>
  )
}
