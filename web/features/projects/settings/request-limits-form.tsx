import { MAX_REQUEST_LIMIT_MS } from '#shared/limits.ts'
import type { ProjectSettings } from '../../../api/queries.ts'
import { Field } from '../../../ui/field.tsx'
import { formatCount } from '../../../ui/format.ts'
import { Minor } from '../../../ui/text.tsx'
import { FormCard, useSettingsDraft } from './form.tsx'
import { hasRequestLimits, toRequestLimitDraft, toRequestLimits } from './request-limits-model.ts'
import { requestLimitsTexts as texts } from './request-limits-texts.ts'

/** The limits by which requests of a server are judged. */
export function RequestLimitsForm({ project, why }: { project: ProjectSettings; why: string | undefined }) {
  const { draft, set, form } = useSettingsDraft(project, {
    draftOf: toRequestLimitDraft,
    patchOf: toRequestLimits,
    isWhole: (limits) => hasRequestLimits(limits).p95 && hasRequestLimits(limits).failures,
    said: texts.saved,
    failed: texts.failed,
    why,
  })
  const isValid = hasRequestLimits(draft)
  return (
    <FormCard title={texts.title} form={form}>
      <Field
        label={texts.p95}
        hint={texts.p95Hint}
        value={draft.p95}
        readOnly={why !== undefined}
        inputMode="numeric"
        error={isValid.p95 ? undefined : texts.p95Wrong(formatCount(MAX_REQUEST_LIMIT_MS))}
        after={<Minor>{texts.ms}</Minor>}
        onChange={(event) => set({ p95: event.target.value.trim() })}
      />
      <Field
        label={texts.failures}
        hint={texts.failuresHint}
        value={draft.failures}
        readOnly={why !== undefined}
        inputMode="decimal"
        error={isValid.failures ? undefined : texts.failuresWrong}
        after={<Minor>{texts.percent}</Minor>}
        onChange={(event) => set({ failures: event.target.value.trim() })}
      />
    </FormCard>
  )
}
