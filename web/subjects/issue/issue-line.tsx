import { useProjectPlatforms } from './platforms.ts'
import { Link } from '@tanstack/react-router'
import type { Issue } from '../../api/issue-queries.ts'
import { paths } from '../../address/paths.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { Sparkline } from '../../ui/chart/sparkline.tsx'
import choiceStyles from '../../ui/choice.module.css'
import { classNames } from '../../ui/class-names.ts'
import fitStyles from '../../ui/fit.module.css'
import { formatCount, formatShortCount } from '../../ui/format.ts'
import narrowStyles from '../../ui/narrow.module.css'
import { useNow } from '../../ui/now.ts'
import { PlatformTile } from '../../ui/platform-tile.tsx'
import { Severity, Status } from '../../ui/status.tsx'
import { Minor, ShortId } from '../../ui/text.tsx'
import { Time } from '../../ui/time.tsx'
import { splitTitle } from './headline.ts'
import { lineTexts } from './line-texts.ts'
import { findLevelStart, trendPeak, trendSum, trendTone } from './trend.ts'
import styles from './issue-line.module.css'
import typeStyles from '../../ui/type.module.css'

/** An issue in a list outside the stream, to read and to open: the columns of a row there. */
export function IssueLine({ issue, project }: { issue: Issue; project: string | undefined }) {
  const now = useNow('half-minute')
  const kinds = useProjectPlatforms()
  const { name, rest } = splitTitle(issue)
  return (
    <li className={classNames(styles.line, choiceStyles.row)}>
      <Severity severity={issue.severity} word={false} />
      <div className={classNames(styles.title, fitStyles.shrinks)}>
        <div
          className={classNames(
            choiceStyles.underlineLinks,
            typeStyles.headNames,
            fitStyles.ellipsis,
            narrowStyles.breaksAt600,
          )}
        >
          <Link {...paths.issue(issue.id, { project })}>
            <b>{name}</b> {rest === null ? null : <span className={typeStyles.soft}>{rest}</span>}
          </Link>
        </div>
        <Minor as="p" className={classNames(styles.meta, fitStyles.ellipsis)}>
          <PlatformTile platform={issue.platform} kind={kinds.get(issue.project_id)} />
          <ShortId>{issue.short_id}</ShortId>
          {issue.culprit === '' ? null : <span>{issue.culprit}</span>}
        </Minor>
      </div>
      <span className={narrowStyles.hiddenAt900}>
        <Sparkline
          counts={issue.trend.counts}
          tone={trendTone(issue, now)}
          split={findLevelStart(issue, now)}
          label={lineTexts.trend(trendSum(issue.trend), trendPeak(issue.trend))}
        />
      </span>
      <Figure count={issue.event_count} unit={lineTexts.events} />
      <Figure count={issue.user_count} unit={lineTexts.users} />
      <Minor className={classNames(narrowStyles.hiddenAt900, fitStyles.textEnd, fitStyles.nowrap)}>
        <Time at={issue.last_seen} as="age" />
      </Minor>
      <span className={styles.status}>
        <Status status={issue.status} />
      </span>
      <span className={narrowStyles.hiddenAt900}>
        <Avatar user={issue.assignee} small quiet />
      </span>
    </li>
  )
}

function Figure({ count, unit }: { count: number; unit: (count: number) => string }) {
  return (
    <span
      className={classNames(typeStyles.figures, styles.figure, fitStyles.textEnd, fitStyles.nowrap)}
      title={`${formatCount(count)} ${unit(count)}`}
    >
      {count < 1_000_000 ? formatCount(count) : formatShortCount(count)}
      <small className={typeStyles.meta}> {unit(count)}</small>
    </span>
  )
}
