import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Monitor } from '../../../api/monitor-queries.ts'
import { projectsQuery } from '../../../api/queries.ts'
import { Card } from '../../../ui/card.tsx'
import { CommandBox } from '../../../ui/command-box.tsx'
import { Segmented } from '../../../ui/segmented.tsx'
import { Minor } from '../../../ui/text.tsx'
import { checkInSnippet, LANGUAGE_NAMES, SNIPPET_LANGUAGES, type SnippetLanguage } from './snippets.ts'
import { monitorsTexts as texts } from './texts.ts'
import styles from './side-cards.module.css'

/** Code that sends the check-ins of the monitor. */
export function SendCard({ monitor }: { monitor: Monitor }) {
  const [language, setLanguage] = useState<SnippetLanguage>('node')
  const project = useQuery(projectsQuery).data?.items.find(({ id }) => id === monitor.project_id)
  if (project === undefined) return null
  return (
    <Card title={texts.send}>
      <div className={styles.body}>
        <div>
          <Segmented<SnippetLanguage>
            label={texts.languages}
            size="sm"
            value={language}
            options={SNIPPET_LANGUAGES.map((value) => ({ value, label: LANGUAGE_NAMES[value] }))}
            onChange={setLanguage}
          />
        </div>
        <CommandBox
          title={LANGUAGE_NAMES[language]}
          code={checkInSnippet(language, monitor, project.dsn)}
          said={texts.copied}
        />
        <Minor as="p">{texts.sendNote}</Minor>
      </div>
    </Card>
  )
}
