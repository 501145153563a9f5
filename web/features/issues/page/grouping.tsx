import { useState } from 'react'
import type { IssueDetail } from '../../../api/issue-queries.ts'
import { useUnmerge } from './merging.ts'
import { useCan } from '../../../app/can.ts'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { formatCount } from '../../../ui/format.ts'
import { KeyValues } from '../../../ui/key-values.tsx'
import { TextButton } from '../../../ui/text-button.tsx'
import { Minor, ShortId } from '../../../ui/text.tsx'
import { mergeTexts } from './merge-texts.ts'
import { issueTexts } from './texts.ts'
import { LongText } from './contexts/value.tsx'
import issueStyles from './issue.module.css'
import styles from './grouping.module.css'
import typeStyles from '../../../ui/type.module.css'

/** Longer labels are above their value. */
const SHORT_LABEL = 9
const MAX_COLLAPSED = 300

type Grouping = IssueDetail['grouping']
type Parts = Grouping['parts']

const isVariant = (name: string): name is keyof typeof issueTexts.variants => name in issueTexts.variants

/** Why the events form one issue: the parts of its fingerprints, and its merged issues. */
export function IssueGrouping({ issue }: { issue: IssueDetail }) {
  const { grouping } = issue
  return (
    <Card
      id="grouping"
      title={issueTexts.grouping}
      titleId="h-grouping"
      header={<Minor>{issueTexts.groupingVersion(grouping.version)}</Minor>}
    >
      <p className={issueStyles.groupingT}>{issueTexts.groupingText}</p>
      <PartList parts={grouping.parts} />
      {grouping.fingerprints.length < 2 ? null : <Fingerprints grouping={grouping} />}
      {grouping.merged.length === 0 ? null : <Merged issue={issue} />}
    </Card>
  )
}

/** The parts of a fingerprint; only frames and rules repeat. */
const PartList = ({ parts }: { parts: Parts }) =>
  parts.map((part, index) => <Part key={`${part.variant} ${index}`} part={part} />)

/** Further values are left out; a stack can have hundreds of frames. */
const VALUES_AT_START = 8

function Part({ part }: { part: Parts[number] }) {
  const [whole, setWhole] = useState(false)
  const values = whole ? part.values : part.values.slice(0, VALUES_AT_START)
  return (
    <div className={issueStyles.part}>
      <h3>{isVariant(part.variant) ? issueTexts.variants[part.variant] : part.variant}</h3>
      <KeyValues className={classNames(styles.monoV, fitStyles.breakTerms, typeStyles.codeValues)}>
        {values.map(({ label, value }, index) => (
          // Frames share their label and keep their order.
          <div key={`${label} ${index}`} className={label.length > SHORT_LABEL ? styles.isLong : undefined}>
            <dt>{label.replaceAll('_', ' ')}</dt>
            <dd>
              <LongText text={value} maxLength={MAX_COLLAPSED} />
            </dd>
          </div>
        ))}
      </KeyValues>
      {values.length === part.values.length ? null : (
        <p className={issueStyles.tagMore}>
          <TextButton onClick={() => setWhole(true)}>{issueTexts.showAllValues(part.values.length)}</TextButton>
        </p>
      )}
    </div>
  )
}

/** All fingerprints of the issue, with their parts. */
function Fingerprints({ grouping }: { grouping: Grouping }) {
  return (
    <details className={classNames(issueStyles.part, issueStyles.foldPart, choiceStyles.rowSummary)}>
      <summary>{mergeTexts.fingerprints(grouping.fingerprints.length)}</summary>
      {grouping.fingerprints.map((one) => (
        <div key={one.hash}>
          <p className={issueStyles.groupingT}>
            <span className={typeStyles.mono} title={one.hash}>
              {one.hash.slice(0, 12)}
            </span>{' '}
            {mergeTexts.ofVersion(one.version)} · {mergeTexts.createdIssue(one.short_id)}
          </p>
          <PartList parts={one.parts} />
        </div>
      ))}
    </details>
  )
}

/** The merged issues, with buttons that unmerge them. */
function Merged({ issue }: { issue: IssueDetail }) {
  const may = useCan('issues.write')
  const unmerge = useUnmerge(issue)
  return (
    <div className={`${issueStyles.part} ${issueStyles.gpart}`}>
      <h3>{mergeTexts.mergedHere}</h3>
      <ul className={styles.gmembers}>
        {issue.grouping.merged.map((member) => (
          <li key={member.id}>
            <span className={fitStyles.shrinks}>
              <span className={classNames(fitStyles.block, fitStyles.ellipsis)} title={member.title}>
                {member.title}
              </span>
              <Minor>
                <ShortId>{member.short_id}</ShortId> · {formatCount(member.event_count)}
              </Minor>
            </span>
            <Button
              size="sm"
              className={fitStyles.fixed}
              why={may.why}
              aria-label={mergeTexts.unmerge(member.short_id)}
              onClick={() => unmerge.mutate(member)}
            >
              {mergeTexts.unmergeShort}
            </Button>
          </li>
        ))}
      </ul>
    </div>
  )
}
