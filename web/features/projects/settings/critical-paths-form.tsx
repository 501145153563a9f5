import { errorSentence } from '../../../api/change.ts'
import type { ProjectSettings } from '../../../api/queries.ts'
import { settingsTexts } from './texts.ts'
import { AreaField, splitLines } from '../../../ui/area-field.tsx'
import { criticalPathsTexts as texts } from './critical-paths-texts.ts'
import { FormCard, useSettingsDraft } from './form.tsx'

/** The journeys that alert rules watch: a pattern in each line. */
export function CriticalPathsForm({ project, why }: { project: ProjectSettings; why: string | undefined }) {
  const { draft, change, error, form } = useSettingsDraft(project, {
    draftOf: (stored) => stored.critical_paths.join('\n'),
    patchOf: (text: string) => ({ critical_paths: splitLines(text) }),
    said: texts.saved,
    why,
  })
  return (
    <FormCard title={texts.title} form={form}>
      <AreaField
        label={texts.label}
        hint={texts.hint}
        value={draft}
        readOnly={why !== undefined}
        error={error === null ? undefined : `${texts.failed} ${errorSentence(error, settingsTexts.fields)}`}
        onChange={change}
      />
    </FormCard>
  )
}
