import type { ReleaseDetail } from '../../../api/release-queries.ts'
import { IssueLine } from '../../../subjects/issue/issue-line.tsx'
import type { ReleasesSearch } from '../../../address/search.ts'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { formatCount, formatDuration } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { CommandBox } from '../../../ui/command-box.tsx'
import { commitsCommand, deployCommand } from './commands.ts'
import { releasesTexts } from './texts.ts'
import styles from './release-parts.module.css'
import typeStyles from '../../../ui/type.module.css'

/** Issues that are new, regressed or resolved in the release. */
export function ReleaseIssues({ release, search }: { release: ReleaseDetail; search: ReleasesSearch }) {
  const parts = [
    ['fresh', release.new_issue_list, release.new_issues],
    ['regressed', release.regressed_issues, release.regressions],
    ['resolved', release.resolved_issues, release.resolved_issues.length],
  ] as const
  return (
    <Card className={styles.issues} title={releasesTexts.issuesTitle}>
      {parts.map(([part, issues, total]) => (
        <div key={part}>
          <h3>
            {releasesTexts.parts[part]}{' '}
            <Minor>{issues.length < total ? releasesTexts.partsShown(issues.length, total) : formatCount(total)}</Minor>
          </h3>
          {issues.length === 0 ? (
            <Minor as="p" className={styles.none}>
              {releasesTexts.noPart[part]}
            </Minor>
          ) : (
            <ul>
              {issues.map((issue) => (
                <IssueLine key={issue.id} issue={issue} project={search.project} />
              ))}
            </ul>
          )}
        </div>
      ))}
    </Card>
  )
}

/** The newest commits. */
export function Commits({ release }: { release: ReleaseDetail }) {
  const { commits, commit_count: count } = release
  return (
    <Card
      title={releasesTexts.commits}
      header={count === 0 ? null : <Minor>{releasesTexts.commitsShown(commits.length, count)}</Minor>}
    >
      {commits.length === 0 ? (
        <div className={styles.none}>
          <Minor as="p">{releasesTexts.noCommits}</Minor>
          <CommandBox
            title={releasesTexts.commitsTitle}
            code={commitsCommand(location.origin, release.id)}
            said={releasesTexts.commandCopied}
          />
          <Minor as="p">{releasesTexts.keyHint}</Minor>
        </div>
      ) : (
        <ul className={styles.list}>
          {commits.map((commit) => (
            <li key={commit.id}>
              <Icon name="commit" className={typeStyles.quiet} />
              <span className={classNames(typeStyles.accentLinks, fitStyles.fills, fitStyles.ellipsis)}>
                {commit.message === null ? (
                  <span className={typeStyles.quiet}>{releasesTexts.noMessage}</span>
                ) : (
                  firstLine(commit.message)
                )}
                <Minor> {commit.author_name === null ? null : releasesTexts.by(commit.author_name)}</Minor>
              </span>
              <Minor title={commit.id} className={typeStyles.mono}>
                {commit.id.slice(0, 8)}
              </Minor>
              {commit.timestamp === null ? null : (
                <Minor className={fitStyles.nowrap}>
                  <Time at={commit.timestamp} as="age" />
                </Minor>
              )}
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

const firstLine = (message: string): string => message.split('\n', 1)[0] ?? ''

/** The deploys, newest first. */
export function Deploys({ release }: { release: ReleaseDetail }) {
  return (
    <Card
      title={releasesTexts.deploys}
      header={release.deploy_count === 0 ? null : <Minor>{formatCount(release.deploy_count)}</Minor>}
    >
      {release.deploys.length === 0 ? (
        <div className={styles.none}>
          <Minor as="p">{releasesTexts.noDeploys}</Minor>
          <CommandBox
            title={releasesTexts.commitsTitle}
            code={deployCommand(location.origin, release.id)}
            said={releasesTexts.commandCopied}
          />
          <Minor as="p">{releasesTexts.keyHint}</Minor>
        </div>
      ) : (
        <ul className={styles.list}>
          {release.deploys.map((deploy) => (
            <li key={deploy.id}>
              <Icon name="send" className={typeStyles.quiet} />
              <span className={classNames(typeStyles.accentLinks, fitStyles.fills, fitStyles.ellipsis)}>
                {deploy.url === null ? (
                  deploy.environment
                ) : (
                  <a href={deploy.url} rel="noreferrer" target="_blank">
                    {deploy.environment}
                  </a>
                )}
                <Minor> {deploy.name}</Minor>
              </span>
              <Minor>{lasted(deploy)}</Minor>
              <Minor className={fitStyles.nowrap}>
                <Time at={deploy.finished_at ?? deploy.started_at ?? deploy.created_at} as="moment" />
              </Minor>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

function lasted({ started_at: from, finished_at: to }: ReleaseDetail['deploys'][number]): string {
  if (to === null) return releasesTexts.running
  return from === null ? '' : releasesTexts.took(formatDuration(Date.parse(to) - Date.parse(from)))
}
