import { useState } from 'react'
import { reasonOf } from '../../api/change.ts'
import type { ProjectSettings } from '../../api/queries.ts'
import { settingsTexts } from './texts.ts'
import { AreaField, linesOf } from '../../ui/area-field.tsx'
import { criticalPathsTexts as texts } from './critical-paths-texts.ts'
import { useSettingsSave } from './form.tsx'
import { FormCard } from './form-card.tsx'

/** The journeys that alert rules watch: a pattern in each line. */
export function CriticalPathsForm({ project, why }: { project: ProjectSettings; why: string | undefined }) {
  const [draft, setDraft] = useState(project.critical_paths.join('\n'))
  const save = useSettingsSave(project.id, {
    said: texts.saved,
    onSaved: (answer) => setDraft(answer.critical_paths.join('\n')),
  })
  const dirty = draft !== project.critical_paths.join('\n')
  return (
    <FormCard
      title={texts.title}
      dirty={dirty}
      busy={save.isPending}
      why={why}
      onSave={() => {
        if (dirty && why === undefined && !save.isPending) save.mutate({ critical_paths: linesOf(draft) })
      }}
      onDiscard={() => {
        setDraft(project.critical_paths.join('\n'))
        save.reset()
      }}
    >
      <AreaField
        label={texts.label}
        hint={texts.hint}
        value={draft}
        readOnly={why !== undefined}
        error={save.error === null ? undefined : `${texts.failed} ${reasonOf(save.error, settingsTexts.fields)}`}
        onChange={(text) => {
          setDraft(text)
          save.reset()
        }}
      />
    </FormCard>
  )
}
