import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { paths } from '../../../address/paths.ts'
import { meQuery, type Project } from '../../../api/queries.ts'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { CommandBox } from '../../../ui/command-box.tsx'
import { Segmented } from '../../../ui/segmented.tsx'
import { Stack, Toolbar } from '../../../ui/stack.tsx'
import { Minor } from '../../../ui/text.tsx'
import { listTools, type Tool, writeEnvironment, writeLines } from './model.ts'
import { symbolsTexts } from './texts.ts'
import styles from './symbols-page.module.css'

const texts = symbolsTexts.tools

/** The environment and the commands with which a build uploads by itself. */
export function BuildTools({ project }: { project: Pick<Project, 'slug' | 'platform'> }) {
  const org = useQuery(meQuery).data?.org.slug ?? ''
  const target = { origin: location.origin, org, project: project.slug, platform: project.platform }
  const [tool, setTool] = useState<Tool>('sentry-cli')
  return (
    <Card title={texts.title}>
      <Stack className={styles.inside}>
        <Minor as="p">{texts.lead}</Minor>
        <CommandBox title={texts.environment} code={writeEnvironment(target)} said={symbolsTexts.copied} />
        <Toolbar>
          <Segmented
            size="sm"
            label={texts.tool}
            value={tool}
            options={listTools(target).map((one) => ({ value: one, label: one }))}
            onChange={setTool}
          />
        </Toolbar>
        <CommandBox title={tool} code={writeLines(target, tool)} said={symbolsTexts.copied} />
      </Stack>
      <CardFooter>
        <Link {...paths.apiKeys()}>{texts.makeKey}</Link>
      </CardFooter>
    </Card>
  )
}
