import { expect, test } from 'vitest'
import { aProject } from '../kit/founder.ts'
import { aMemberClient } from '../kit/member-client.ts'
import { expectAccessible, screenshot } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

const dashboard = await testDashboard({ jobs: true })
const { server } = dashboard

test('an owner deletes a project by typing its short name, and sees the deletion end', async () => {
  const { person, project } = await aTeam(server)
  const kept = await aProject(person, { name: 'kept-app' })
  const page = await dashboard.openAs(person, { theme: 'dark', size: 'phone' })
  await page.goto(`/projects/${project.id}/settings/general`)
  await page.getByRole('button', { name: 'Delete project' }).click()
  const dialog = page.getByRole('dialog', { name: `Delete ${project.name}?` })
  const submit = dialog.getByRole('button', { name: 'Delete project' })
  await dialog.getByLabel(`Type “${project.slug}” to confirm`).fill('something else')
  expect(await submit.getAttribute('aria-disabled')).toBe('true')
  await expectAccessible(page, 'delete project')
  await screenshot(page, 'delete-project')
  await dialog.getByLabel(`Type “${project.slug}” to confirm`).fill(project.slug)
  await submit.click()
  await page.getByRole('dialog', { name: `${project.name} is deleted` }).waitFor()
  await page.getByRole('button', { name: 'Go to issues' }).click()
  await page.waitForURL('**/issues**')
  const { items } = (await person.get('/api/projects')).as<{ items: { id: string }[] }>()
  expect(items.map(({ id }) => id)).toEqual([kept.id])
})

test('an admin cannot delete it, and sees why', async () => {
  const { person, project } = await aTeam(server)
  const admin = await aMemberClient(server.app, server.url, person, { name: 'Ada Admin', role: 'admin' })
  const page = await dashboard.openAs({ ...person, cookies: admin.cookies })
  await page.goto(`/projects/${project.id}/settings/general`)
  const button = page.getByRole('button', { name: 'Delete project' })
  await button.waitFor()
  expect(await button.getAttribute('aria-disabled')).toBe('true')
  expect(await button.getAttribute('title')).toBe('You need the owner role to change this.')
})
