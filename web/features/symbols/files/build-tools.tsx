import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { paths } from '../../../address/paths.ts'
import { meQuery, type Project } from '../../../api/queries.ts'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { CodeBox } from '../../../ui/code-box.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
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
        <Code title={texts.environment} code={writeEnvironment(target)} />
        <Toolbar>
          <Segmented
            size="sm"
            label={texts.tool}
            value={tool}
            options={listTools(target).map((one) => ({ value: one, label: one }))}
            onChange={setTool}
          />
        </Toolbar>
        <Code title={tool} code={writeLines(target, tool)} />
      </Stack>
      <CardFooter>
        <Link {...paths.apiKeys()}>{texts.makeKey}</Link>
      </CardFooter>
    </Card>
  )
}

const Code = ({ title, code }: { title: string; code: string }) => (
  <CodeBox
    title={<span>{title}</span>}
    action={<CopyButton text={code} said={symbolsTexts.copied} look="ghost" size="sm" />}
  >
    {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
    <pre role="region" aria-label={title} tabIndex={0}>
      <code>{code}</code>
    </pre>
  </CodeBox>
)
