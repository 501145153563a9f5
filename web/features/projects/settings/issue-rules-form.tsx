import type { ProjectSettings } from '../../../api/queries.ts'
import { Field } from '../../../ui/field.tsx'
import { Minor } from '../../../ui/text.tsx'
import { issueRulesTexts } from './issue-rules-texts.ts'
import { useSettingsDraft } from './form.tsx'
import { FormCard } from './form-card.tsx'
import { brokenBounds, toIssueRuleDraft, RULE_FIELDS, toIssueRules, type RuleField } from './issue-rules-model.ts'

/** The settings of severity and escalation. */
export function IssueRulesForm({ project, why }: { project: ProjectSettings; why: string | undefined }) {
  const { draft, change, form } = useSettingsDraft(project, {
    draftOf: toIssueRuleDraft,
    patchOf: toIssueRules,
    said: issueRulesTexts.saved,
    failed: issueRulesTexts.failed,
    why,
  })
  const wrong = RULE_FIELDS.some((field) => brokenBounds(field, draft[field]) !== null)
  const field = (name: RuleField) => {
    const bound = brokenBounds(name, draft[name])
    const unit = issueRulesTexts.units[name]
    return (
      <Field
        key={name}
        label={issueRulesTexts.labels[name]}
        hint={issueRulesTexts.hints[name]}
        value={draft[name]}
        readOnly={why !== undefined}
        inputMode="decimal"
        error={bound === null ? undefined : issueRulesTexts.bound(bound.min, bound.max, bound.isWhole)}
        after={unit === '' ? null : <Minor>{unit}</Minor>}
        onChange={(event) => change({ ...draft, [name]: event.target.value })}
      />
    )
  }
  return (
    <FormCard
      title={issueRulesTexts.title}
      {...form}
      onSave={() => {
        if (!wrong) form.onSave()
      }}
    >
      {RULE_FIELDS.map(field)}
    </FormCard>
  )
}
