import { useState } from 'react'
import { call } from '../../api/call.ts'
import { useChange } from '../../api/change.ts'
import { projectSettingsQuery, type ProjectSettings } from '../../api/queries.ts'
import { Field } from '../../ui/field.tsx'
import { Minor } from '../../ui/text.tsx'
import { issueRulesTexts } from './issue-rules-texts.ts'
import { FormCard } from './form-card.tsx'
import { brokenBounds, draftOf, RULE_FIELDS, rulesOf, type RuleField } from './issue-rules-model.ts'

/** The settings of severity and escalation. */
export function IssueRulesForm({ project, why }: { project: ProjectSettings; why: string | undefined }) {
  const [draft, setDraft] = useState(() => draftOf(project))
  const params = { projectId: project.id }
  const change = useChange({
    send: (body: ReturnType<typeof rulesOf>) => call('PATCH /api/projects/:projectId/settings', { params, body }),
    touches: () => [['projects']],
    settle: (client, answer) => client.setQueryData(projectSettingsQuery(project.id).queryKey, answer),
    said: () => issueRulesTexts.saved,
    failed: issueRulesTexts.failed,
  })
  const dirty = JSON.stringify(draft) !== JSON.stringify(draftOf(project))
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
        onChange={(event) => {
          const { value } = event.target
          setDraft((before) => ({ ...before, [name]: value }))
        }}
      />
    )
  }
  return (
    <FormCard
      title={issueRulesTexts.title}
      dirty={dirty}
      busy={change.isPending}
      why={why}
      onSave={() => {
        if (dirty && !wrong && why === undefined) change.mutate(rulesOf(draft))
      }}
      onDiscard={() => setDraft(draftOf(project))}
    >
      {RULE_FIELDS.map(field)}
    </FormCard>
  )
}
