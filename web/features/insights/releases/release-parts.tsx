import type { ReleaseDetail } from '../../../api/release-queries.ts'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { projectsQuery } from '../../../api/queries.ts'
import { paths } from '../../../address/paths.ts'
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
  const projects = useQuery(projectsQuery)
  const slug = projects.data?.items.find(({ id }) => id === release.project_id)?.slug ?? null
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
                  <CommitTitle commit={commit} slug={slug} />
                )}
                <Minor> {commit.author_name === null ? null : releasesTexts.by(commit.author_name)}</Minor>
              </span>
              {commit.patch_set.length === 0 ? null : (
                <Minor className={fitStyles.nowrap} title={filesOf(commit)}>
                  {releasesTexts.files(commit.patch_set.length)}
                </Minor>
              )}
              <CommitId commit={commit} />
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

type Commit = ReleaseDetail['commits'][number]

/** The title of a commit, with links of the issues that its message names. */
function CommitTitle({ commit, slug }: { commit: Commit; slug: string | null }) {
  const message = commit.message ?? ''
  const title = firstLine(message)
  const named = slug === null ? [] : [...new Set(message.toUpperCase().match(issueIds(slug)))]
  return (
    <>
      {title}
      {named.slice(0, MAX_NAMED).map((id) => (
        <span key={id}>
          {' '}
          <Link {...paths.issues({ q: `issue:${id}` })}>{id}</Link>
        </span>
      ))}
    </>
  )
}

const MAX_NAMED = 3
/** A slug holds letters, digits and hyphens. */
const issueIds = (slug: string): RegExp => new RegExp(`(?<![\\w-])${slug.toUpperCase()}-\\d{1,9}(?![\\w-])`, 'g')

/** The hash; a link where the address of the repository is known. */
function CommitId({ commit: { id, repository } }: { commit: Commit }) {
  const short = id.slice(0, 8)
  return (
    <Minor title={id} className={classNames(typeStyles.mono, typeStyles.accentLinks)}>
      {repository !== null && /^https?:\/\//.test(repository) ? (
        <a href={`${repository}/commit/${id}`} rel="noreferrer" target="_blank">
          {short}
        </a>
      ) : (
        short
      )}
    </Minor>
  )
}

const MAX_LISTED = 20

const filesOf = ({ patch_set: files }: Commit): string =>
  files
    .slice(0, MAX_LISTED)
    .map(({ type, path }) => `${type} ${path}`)
    .join('\n')
