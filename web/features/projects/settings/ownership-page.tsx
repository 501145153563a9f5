import { ErrorNote } from '../../../forms/error-note.tsx'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call, type AnswerOf } from '../../../api/call.ts'
import { teamQuery } from '../../../api/member-queries.ts'
import type { ProjectSettings } from '../../../api/queries.ts'
import { settingsTexts } from './texts.ts'
import {
  blankRule,
  toOwnershipDraft,
  OwnershipRuleRow,
  ownershipProblem,
  toOwnershipRule,
  type DraftRule,
} from './ownership-rule.tsx'
import { ProjectPart } from './project-part.tsx'
import { SettingsForm, useSettingsDraft } from './form.tsx'
import { paths } from '../../../address/paths.ts'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { Avatar } from '../../../ui/avatar.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { Minor, ShortId } from '../../../ui/text.tsx'
import { ownershipTexts } from './ownership-texts.ts'
import styles from './ownership-page.module.css'
import typeStyles from '../../../ui/type.module.css'
import { Spacer } from '../../../ui/stack.tsx'

export const ProjectOwnershipPage = () => (
  <ProjectPart title={ownershipTexts.title} lead={ownershipTexts.lead} heightPx={320}>
    {(project, why) => <OwnershipForm key={project.id} project={project} why={why} />}
  </ProjectPart>
)

const draftsOf = (project: ProjectSettings): readonly DraftRule[] => project.ownership_rules.map(toOwnershipDraft)
const patchOf = (rules: readonly DraftRule[]) => ({ ownership_rules: rules.map(toOwnershipRule) })

function OwnershipForm({ project, why }: { project: ProjectSettings; why: string | undefined }) {
  const team = useQuery(teamQuery())
  const preview = useMutation({
    mutationFn: (sent: readonly DraftRule[]) =>
      call('POST /api/projects/:projectId/ownership/preview', {
        params: { projectId: project.id },
        body: patchOf(sent),
      }),
  })
  const {
    draft: rules,
    change,
    tried,
    check,
    error,
    form,
  } = useSettingsDraft(project, {
    draftOf: draftsOf,
    patchOf,
    isWhole: (drafts) => drafts.every((rule) => ownershipProblem(rule) === null),
    said: ownershipTexts.saved,
    why,
    onChange: () => preview.reset(),
  })
  const move = (index: number, by: -1 | 1) => {
    const [rule] = rules.slice(index, index + 1)
    if (rule !== undefined) change(rules.toSpliced(index, 1).toSpliced(index + by, 0, rule))
  }
  return (
    <SettingsForm name={ownershipTexts.title} error={error} failed={ownershipTexts.failed} form={form}>
      <Card
        title={ownershipTexts.rules}
        header={
          <>
            <Spacer />
            <Button size="sm" icon="plus" why={why} onClick={() => change([...rules, blankRule()])}>
              {ownershipTexts.add}
            </Button>
          </>
        }
      >
        <Minor as="p" className={fitStyles.inset12}>
          {rules.length === 0 ? ownershipTexts.none : ownershipTexts.globHint}
        </Minor>
        {rules.map((rule, index) => (
          <OwnershipRuleRow
            key={rule.key}
            number={index + 1}
            last={index === rules.length - 1}
            rule={rule}
            members={team.data?.items ?? []}
            membersKnown={team.data !== undefined}
            problem={tried ? ownershipProblem(rule) : null}
            why={why}
            onChange={(next) => change(rules.map((one) => (one.key === rule.key ? next : one)))}
            onMove={(by) => move(index, by)}
            onRemove={() => change(rules.filter((one) => one.key !== rule.key))}
          />
        ))}
      </Card>
      <Card
        title={ownershipTexts.preview}
        header={
          <>
            <Minor>{ownershipTexts.previewText}</Minor>
            <Spacer />
            <Button
              size="sm"
              icon="eye"
              busy={preview.isPending}
              why={why}
              onClick={() => {
                if (check()) preview.mutate(rules)
              }}
            >
              {ownershipTexts.previewRun}
            </Button>
          </>
        }
      >
        <Preview preview={preview.data} error={preview.error} />
      </Card>
    </SettingsForm>
  )
}

type PreviewData = AnswerOf<'POST /api/projects/:projectId/ownership/preview'>

/** The assignee each recent issue would get, and the rule that matches. */
function Preview({ preview, error }: { preview: PreviewData | undefined; error: Error | null }) {
  if (error !== null)
    return <ErrorNote error={error} before={ownershipTexts.previewFailed} labels={settingsTexts.fields} />
  if (preview === undefined) return null
  if (preview.looked_at === 0)
    return (
      <p className={fitStyles.inset12} role="status">
        {ownershipTexts.noIssues}
      </p>
    )
  return (
    <div className={styles.list}>
      <p role="status">{ownershipTexts.assigned(preview.owned, preview.looked_at)}</p>
      <ul>
        {preview.issues.map((issue) => (
          <li key={issue.id}>
            <span className={classNames(fitStyles.breakSpans, fitStyles.lines)}>
              <Link {...paths.issue(issue.id)} className={classNames(styles.title, choiceStyles.underlines)}>
                {issue.title}
              </Link>
              <Minor>
                <ShortId>{issue.short_id}</ShortId>{' '}
                {issue.rule === null ? null : (
                  <>
                    {ownershipTexts.byRule(issue.rule + 1)}{' '}
                    <span className={`${typeStyles.mono} ${typeStyles.small}`}>{issue.matched}</span>
                  </>
                )}
              </Minor>
            </span>
            <span className={styles.assignee}>
              {issue.owner === null ? null : <Avatar user={issue.owner} small quiet />}
              {issue.owner?.name ?? issue.team ?? <span className={typeStyles.quiet}>{ownershipTexts.unassigned}</span>}
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}
