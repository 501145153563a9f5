import { Link } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import type { IssueDetail } from '../../../api/issue-queries.ts'
import { useCan } from '../../../app/can.ts'
import { toIssueRow, useIssueEdit } from '../../../subjects/issue/changes.ts'
import { displayName } from '../../../subjects/members/names.ts'
import { Avatar } from '../../../ui/avatar.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { Minor } from '../../../ui/text.tsx'
import { codeTexts } from './code-texts.ts'
import styles from './code-side.module.css'

const texts = codeTexts.who

type Candidate = IssueDetail['candidates'][number]

/** Members and teams who could take the issue, each with the reasons; or why no one is suggested. */
export function CandidatesCard({ issue }: { issue: IssueDetail }) {
  const mayRule = useCan('projects.write').allowed
  const { candidates, status } = issue
  if (status === 'resolved') return null
  return (
    <Card title={texts.title}>
      {candidates.length > 0 ? (
        <ul className={classNames(fitStyles.loose, fitStyles.inset12)}>
          {candidates.map((one) => (
            <CandidateLine key={one.person?.id ?? one.team} candidate={one} issue={issue} />
          ))}
        </ul>
      ) : (
        <CardFooter note={whyEmpty(issue)}>
          {mayRule ? (
            <Link {...paths.projectOwnership(issue.project_id)} className={fitStyles.nowrap}>
              {texts.rules}
            </Link>
          ) : null}
        </CardFooter>
      )}
    </Card>
  )
}

function whyEmpty({ code }: IssueDetail): string {
  if (code.known_until === null) return code.repository_url === null ? texts.noHost : texts.noCommits
  if (code.compared_frames === 0) return texts.noFrame
  return code.suspect_count === 0 ? texts.noFile : texts.noMember
}

function CandidateLine({ candidate, issue }: { candidate: Candidate; issue: IssueDetail }) {
  const { person, team, reasons } = candidate
  const may = useCan('issues.write')
  const edit = useIssueEdit()
  const name = person === null ? (team ?? '') : displayName(person)
  return (
    <li className={styles.candidate}>
      <Avatar user={{ id: person?.id ?? name, name }} team={person === null} quiet />
      <span className={fitStyles.breaks}>
        {name}
        <Minor as="small" className={fitStyles.block}>
          {reasons.map(sayReason).join(', ')}
        </Minor>
      </span>
      {person === null ? (
        <Minor>{texts.team}</Minor>
      ) : issue.assignee_id === person.id ? (
        <Minor>{texts.assigned}</Minor>
      ) : (
        <Button
          size="sm"
          why={may.why}
          aria-label={texts.assignTo(name)}
          onClick={() => edit.mutate({ issues: [toIssueRow(issue)], edit: { kind: 'assignee', assignee: person } })}
        >
          {texts.assign}
        </Button>
      )}
    </li>
  )
}

function sayReason(reason: Candidate['reasons'][number]): string {
  switch (reason.kind) {
    case 'suspect':
      return texts.suspect(reason.rank)
    case 'codeowners':
      return texts.codeowners(reason.rule)
    case 'ownership_rule':
      return texts.rule(reason.rule)
    case 'resolved_before':
      return texts.resolvedBefore
  }
}
