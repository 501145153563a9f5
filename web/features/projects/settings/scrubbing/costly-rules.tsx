import { useQuery } from '@tanstack/react-query'
import { intakeQuery } from '../../../../api/intake-queries.ts'
import type { ProjectSettings } from '../../../../api/queries.ts'
import { Note } from '../../../../ui/note.tsx'
import { privacyTexts } from '../privacy-texts.ts'

const texts = privacyTexts.scrubbing

/** Asks for a change of the saved rules that exceeded their limits in the last day. */
export function CostlyRules({ project }: { project: ProjectSettings }) {
  const intake = useQuery(intakeQuery(project.id, '24h'))
  const costly = (intake.data?.costly_rules ?? []).flatMap(({ path, regex, texts: count }) => {
    const index = project.scrub_rules.findIndex((rule) => rule.path === path && rule.regex === regex)
    return index === -1 ? [] : [{ index, path, count }]
  })
  if (costly.length === 0) return null
  return (
    <Note tone="amber" icon="warn" role="status">
      {texts.costly}
      <ul>
        {costly.map(({ index, path, count }) => (
          <li key={index}>{texts.costlyRule(index + 1, path, count)}</li>
        ))}
      </ul>
    </Note>
  )
}
