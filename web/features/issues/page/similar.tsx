import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { similarQuery } from '../../../api/grouping-queries.ts'
import type { IssueDetail } from '../../../api/issue-queries.ts'
import { carried, paths } from '../../../address/paths.ts'
import type { ShellSearch } from '../../../address/search.ts'
import { useCan } from '../../../app/can.ts'
import { QueryError } from '../../../frames/query-error.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { Spacer } from '../../../ui/stack.tsx'
import { STATUS_NAMES } from '../../../ui/status.tsx'
import { Minor, ShortId } from '../../../ui/text.tsx'
import { mergeTexts } from './merge-texts.ts'
import styles from './similar.module.css'
import typeStyles from '../../../ui/type.module.css'

type SimilarProps = { issue: Pick<IssueDetail, 'id'>; search: ShellSearch; onMerge: () => void }

/** Issues that resemble this one, each with what both have in common. */
export function SimilarCard({ issue, search, onMerge }: SimilarProps) {
  const { data, error, refetch } = useQuery(similarQuery(issue.id))
  const canChange = useCan('issues.write').allowed
  if (error !== null) return <QueryError what={mergeTexts.similarName} error={error} onRetry={() => void refetch()} />
  if (data === undefined || data.items.length === 0) return null
  return (
    <Card
      title={mergeTexts.similar}
      header={
        canChange ? (
          <>
            <Spacer />
            <Button size="sm" onClick={onMerge}>
              {mergeTexts.merge}
            </Button>
          </>
        ) : null
      }
    >
      <ul className={classNames(styles.similar, fitStyles.inset10)}>
        {data.items.map(({ issue: one, shared }) => (
          <li key={one.id}>
            <Link
              className={classNames(fitStyles.block, fitStyles.ellipsis)}
              {...paths.issue(one.id, carried(search))}
              title={one.title}
            >
              {one.title}
            </Link>
            <Minor className={styles.facts}>
              <ShortId>{one.short_id}</ShortId>
              <span>{STATUS_NAMES[one.status]}</span>
              <span className={typeStyles.figures}>{mergeTexts.events(one.event_count)}</span>
            </Minor>
            <Minor as="p">{mergeTexts.shared(shared)}</Minor>
          </li>
        ))}
      </ul>
    </Card>
  )
}
