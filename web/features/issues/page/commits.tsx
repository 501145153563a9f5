import { Link } from '@tanstack/react-router'
import type { IssueDetail } from '../../../api/issue-queries.ts'
import { paths } from '../../../address/paths.ts'
import { useCan } from '../../../app/can.ts'
import { toIssueRow, useIssueEdit } from '../../../subjects/issue/changes.ts'
import { shortVersion } from '../../../subjects/issue/trend.ts'
import { displayName } from '../../../subjects/members/names.ts'
import { Avatar } from '../../../ui/avatar.tsx'
import { Badge } from '../../../ui/badge.tsx'
import { Button, buttonLook } from '../../../ui/button.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { CodeBox } from '../../../ui/code-box.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatAge } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import { useNow } from '../../../ui/now.ts'
import { Spacer } from '../../../ui/stack.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import typeStyles from '../../../ui/type.module.css'
import { EmptyPlace } from './empty-place.tsx'
import { commitsTexts as texts } from './commits-texts.ts'
import styles from './commits.module.css'

type Suspect = IssueDetail['code']['suspects'][number]

/** Commits that may have caused the issue, each with its reasons; or which of three things is missing. */
export function CommitsCard({ issue }: { issue: IssueDetail }) {
  const { suspects, suspect_count: count, release, known_until: knownUntil } = issue.code
  return (
    <>
      <Card
        title={texts.title}
        titleId="h-commits"
        header={
          count === 0 ? null : (
            <>
              <Minor className={fitStyles.ellipsis}>{texts.found(count)}</Minor>
              {release === null || release.commit_count === 0 ? null : (
                <>
                  <Spacer />
                  <Link {...paths.release(release.id, { project: issue.project_id })} className={fitStyles.nowrap}>
                    {texts.all(release.commit_count, shortVersion(release.version))}
                  </Link>
                </>
              )}
            </>
          )
        }
      >
        {suspects.length === 0 ? (
          <Missing issue={issue} />
        ) : (
          <>
            <ol className={fitStyles.ruled}>
              {suspects.map((suspect, index) => (
                <SuspectLine key={suspect.sha} suspect={suspect} rank={index + 1} issue={issue} />
              ))}
            </ol>
            <CardFooter
              note={
                <span>
                  {texts.foot}
                  {knownUntil === null ? null : (
                    <>
                      {' '}
                      {texts.lastKnown} <Time at={knownUntil} as="moment" />.
                    </>
                  )}
                </span>
              }
            />
          </>
        )}
      </Card>
      <Mentions issue={issue} />
    </>
  )
}

function Missing({ issue }: { issue: IssueDetail }) {
  const { repository_url: repository, known_until: knownUntil, compared_frames: frames, release } = issue.code
  const mayConnect = useCan('integrations.write').allowed
  const [title, text] =
    repository === null && knownUntil === null
      ? [texts.noHostTitle, texts.noHost]
      : knownUntil === null
        ? [texts.noCommitsTitle, texts.noCommits]
        : frames === 0
          ? [texts.noFrameTitle, texts.noFrame]
          : [
              texts.noneTitle,
              release?.commit_count === 0 ? texts.noneOfRelease(shortVersion(release.version)) : texts.none,
            ]
  return (
    <EmptyPlace icon="commit" title={title} text={text}>
      {repository === null && mayConnect ? (
        <Link {...paths.projectIntegrations(issue.project_id)} {...buttonLook({ size: 'sm' })}>
          <span>{texts.connect}</span>
        </Link>
      ) : null}
    </EmptyPlace>
  )
}

function SuspectLine({ suspect, rank, issue }: { suspect: Suspect; rank: number; issue: IssueDetail }) {
  const { sha, url, title, files, excerpt } = suspect
  const now = useNow('half-minute')
  const short = sha.slice(0, 7)
  const changed = files.find(({ is_line_changed: isChanged }) => isChanged)
  return (
    <li className={styles.suspect}>
      <span className={styles.rank} data-first={rank === 1 ? '' : undefined} aria-label={texts.rank(rank)}>
        {rank}
      </span>
      <div className={fitStyles.shrinks}>
        <p className={fitStyles.breaks}>
          {url === null ? (
            <span className={typeStyles.mono}>{short}</span>
          ) : (
            <a className={classNames(typeStyles.link, typeStyles.mono)} href={url} rel="noreferrer" target="_blank">
              {short}
            </a>
          )}{' '}
          <b className={typeStyles.medium}>{title}</b>
        </p>
        <p className={styles.reasons}>
          {changed?.line == null ? (
            <Badge tone="amber">{texts.sameFile}</Badge>
          ) : (
            <Badge tone="red" icon="commit">
              {texts.lineChanged(changed.line)}
            </Badge>
          )}
          {suspect.release === null ? null : <Badge tone="plain">{texts.firstIn(shortVersion(suspect.release))}</Badge>}
          <Badge tone="plain">{texts.old(formatAge(suspect.committed_at, now))}</Badge>
          <Minor className={fitStyles.breaks}>
            {files
              .slice(0, 2)
              .map(({ path, line, frame }) => texts.place(path.slice(path.lastIndexOf('/') + 1), line, frame))
              .join('; ')}
          </Minor>
        </p>
        {excerpt === null ? null : (
          <CodeBox
            className={styles.code}
            title={<span className={classNames(typeStyles.mono, fitStyles.ellipsis)}>{excerpt.path}</span>}
            action={
              excerpt.url === null ? null : (
                <a
                  className={classNames(typeStyles.link, fitStyles.nowrap)}
                  href={excerpt.url}
                  rel="noreferrer"
                  target="_blank"
                >
                  {texts.openAt(short)}
                </a>
              )
            }
          >
            {/* Focusable, so that keys can scroll long lines. */}
            {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
            <pre className={styles.diff} tabIndex={0} role="region" aria-label={excerpt.path}>
              <code>
                {excerpt.lines.map(({ line, sign, text }, index) => (
                  <span key={index} data-sign={sign}>
                    <i>{line}</i>
                    {sign} {text}
                    {'\n'}
                  </span>
                ))}
              </code>
            </pre>
          </CodeBox>
        )}
      </div>
      <Author suspect={suspect} issue={issue} />
    </li>
  )
}

function Author({ suspect, issue }: { suspect: Suspect; issue: IssueDetail }) {
  const { member, author_name: author, pull } = suspect
  const may = useCan('issues.write')
  const edit = useIssueEdit()
  const isAssigned = member !== null && issue.assignee_id === member.id
  const name = member === null ? (author ?? texts.unknownAuthor) : displayName(member)
  return (
    <div className={styles.author}>
      <span className={styles.who}>
        <Avatar user={{ id: member?.id ?? name, name }} quiet />
        <span className={fitStyles.shrinks}>
          <span className={fitStyles.breaks}>{name}</span>
          <Minor as="small" className={fitStyles.block}>
            <Time at={suspect.committed_at} as="moment" />
            {pull === null ? null : (
              <>
                ,{' '}
                <a className={typeStyles.link} href={pull.url} rel="noreferrer" target="_blank">
                  {pull.label}
                </a>
              </>
            )}
          </Minor>
        </span>
      </span>
      {member === null ? (
        <Minor>{texts.noMember}</Minor>
      ) : isAssigned ? (
        <Minor>{texts.assigned}</Minor>
      ) : (
        <Button
          size="sm"
          why={may.why}
          onClick={() => edit.mutate({ issues: [toIssueRow(issue)], edit: { kind: 'assignee', assignee: member } })}
        >
          {texts.assign}
        </Button>
      )}
    </div>
  )
}

/** Commits and pull requests that name the issue. */
function Mentions({ issue }: { issue: IssueDetail }) {
  const { mentions } = issue.code
  if (mentions.length === 0) return null
  return (
    <Card title={texts.mentions}>
      <ul className={classNames(styles.mentions, fitStyles.ruled)}>
        {mentions.map(({ kind, label, title, url, author, state, at }) => (
          <li key={url}>
            <Icon name={kind === 'pull' ? 'merge' : 'commit'} className={typeStyles.quiet} />
            <span className={fitStyles.breaks}>
              <a className={classNames(typeStyles.link, typeStyles.mono)} href={url} rel="noreferrer" target="_blank">
                {label}
              </a>{' '}
              {title} <Minor>{author}</Minor>
            </span>
            <Badge tone={state === 'fixes' ? 'green' : state === 'open' ? 'blue' : 'plain'}>
              {texts.states[state]}
            </Badge>
            <Minor className={fitStyles.nowrap}>
              <Time at={at} as="moment" />
            </Minor>
          </li>
        ))}
      </ul>
    </Card>
  )
}
