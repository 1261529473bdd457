/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * In place of a fuzzer: each file of a corpus once, so that what was found stays found, with any
 * compiler.
 *
 *     fuzz_TARGET FILE|DIRECTORY...
 */

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "fuzz.h"

static unsigned int inputs;

__attribute__((weak)) int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

static void
fail(const char *path)
{
	fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
	exit(1);
}

static void
replay_file(const char *path, size_t size)
{
	uint8_t *data = malloc(size + 1);
	FILE *f = fopen(path, "rb");

	if (data == NULL || f == NULL || fread(data, 1, size, f) != size)
		fail(path);
	fclose(f);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	inputs++;
}

static void
replay(const char *path)
{
	struct dirent *entry;
	char name[4096];
	struct stat st;
	DIR *dir;

	if (stat(path, &st) != 0)
		fail(path);
	if (!S_ISDIR(st.st_mode)) {
		replay_file(path, (size_t)st.st_size);
		return;
	}
	dir = opendir(path);
	if (dir == NULL)
		fail(path);
	while ((entry = readdir(dir)) != NULL) {
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		if (entry->d_name[0] != '.')
			replay(name);
	}
	closedir(dir);
}

int
main(int argc, char **argv)
{
	int i;

	LLVMFuzzerInitialize(&argc, &argv);
	for (i = 1; i < argc; i++)
		replay(argv[i]);
	printf("%u inputs\n", inputs);
	return inputs == 0;
}
