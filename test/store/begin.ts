import type { Disk } from '../../engine/base/file.ts';
import { LogFile } from '../../engine/store/log-file.ts';
import type { Manifest } from '../../engine/store/manifest.ts';

/** Has the manifest record that `writer` begins the next segment; its number. The file is the caller's. */
export async function beginSegment(manifest: Manifest, writer: number): Promise<number> {
  const segment = manifest.reserve();
  await manifest.begin(segment, writer);
  return segment;
}

/** Begins a log segment as a writer does. */
export async function beginLog(
  disk: Disk,
  manifest: Manifest,
  writer: number,
  roomBytes = 0,
): Promise<LogFile> {
  const segment = manifest.reserve();
  const { folderId } = manifest;
  const options = { disk, segment, writer, folderId, createdMs: 1, roomBytes };
  const log = await LogFile.create(options);
  await manifest.begin(segment, writer);
  return log;
}
