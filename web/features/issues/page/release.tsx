import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { releaseByVersionQuery } from '../../../api/release-queries.ts'
import { paths } from '../../../address/paths.ts'
import { Bar } from '../../../ui/bar.tsx'
import { Card } from '../../../ui/card.tsx'
import { Delta } from '../../../ui/delta.tsx'
import { formatPoints, formatRate } from '../../../ui/format.ts'
import { KeyValues } from '../../../ui/key-values.tsx'
import { Minor } from '../../../ui/text.tsx'
import { eventsTexts } from './events/texts.ts'
import { shortVersion } from '../../../subjects/issue/trend.ts'
import { QueryError } from '../../../frames/query-error.tsx'
import fitStyles from '../../../ui/fit.module.css'
import issueStyles from './issue.module.css'
import typeStyles from '../../../ui/type.module.css'

/** Crash-free rates below these are to be watched, or bad. */
const WATCH = 0.995
const BAD = 0.99

/** Release health of the event's release; absent if the app sends no sessions. */
export function ReleaseCard({ projectId, version }: { projectId: string; version: string }) {
  const { data: release, error, refetch } = useQuery(releaseByVersionQuery(projectId, version))
  if (error !== null) return <QueryError what={eventsTexts.releaseName} error={error} onRetry={() => void refetch()} />
  if (release === undefined || release === null) return null
  const { adoption, crash_free_sessions: crashFree, previous } = release
  if (adoption === null && crashFree === null) return null
  const tone = crashFree === null || crashFree >= WATCH ? '' : crashFree >= BAD ? typeStyles.amber : typeStyles.red
  const change = crashFree === null || previous === null ? null : crashFree - previous.crash_free_sessions
  return (
    <Card
      title={
        <Link {...paths.release(release.id, { project: projectId })} title={version}>
          {eventsTexts.release(shortVersion(version))}
        </Link>
      }
    >
      <KeyValues narrow>
        {adoption === null ? null : (
          <div>
            <dt>{eventsTexts.adoption}</dt>
            <dd className={issueStyles.withBar}>
              <Bar share={adoption} className={issueStyles.bar} />
              {formatRate(adoption)}
            </dd>
          </div>
        )}
        {crashFree === null ? null : (
          <div>
            <dt>{eventsTexts.crashFree}</dt>
            <dd>
              <span className={tone}>{formatRate(crashFree)}</span>
              {change === null || previous === null ? null : (
                <Delta
                  change={change < 0 ? 'worse' : change > 0 ? 'better' : 'same'}
                  title={eventsTexts.againstRelease(shortVersion(previous.version))}
                >
                  {' '}
                  {formatPoints(change)}
                </Delta>
              )}
            </dd>
          </div>
        )}
      </KeyValues>
      <Minor as="p" className={fitStyles.inset12}>
        {release.verdict_reason}
      </Minor>
    </Card>
  )
}
